package sshd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/output"
	"agentctl/tests/sshd"
)

// roundTrip is the time to a host that is not near, and back. It is long, so that the number of round trips counts and not what else this machine does.
const roundTrip = 400 * time.Millisecond

// slowTime is how long a slow host takes for each answer.
const slowTime = time.Second

// What hosts cost, with a shared connection: `go test ./tests/sshd -run - -bench Cost -benchtime 10x`. The three commands for a host run in turns, and
// the medians are reported: of `ssh H true`, of `ssh H agentctl list --json` by hand, and of `agentctl list --host H --json`, for a host on this machine
// and for one that is a round trip of 400 ms away; and of 20 hosts at once that take a second each.
func BenchmarkCost(b *testing.B) {
	w := newWorld(b)
	run := func(args ...string) time.Duration {
		cmd := exec.Command(args[0], args[1:]...)
		cmd.Env = append(os.Environ(), "PATH="+w.Bin+":"+os.Getenv("PATH"))
		began := time.Now()
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%s: %v\n%s\n%s", cmd, err, out, w.Log())
		}
		return time.Since(began)
	}
	ssh := filepath.Join(w.Bin, "ssh")
	for _, name := range append(w.slow, "near", "far") {
		run(ssh, name, "true") // the master stays
		b.Cleanup(func() { run(ssh, "-O", "exit", name) })
	}
	times := map[string][]time.Duration{}
	measure := func(unit string, args ...string) { times[unit] = append(times[unit], run(args...)) }
	b.ResetTimer()
	for range b.N {
		for _, name := range []string{"near", "far"} {
			measure(name+"-true-ms", ssh, name, "true")
			measure(name+"-by-hand-ms", ssh, name, ".local/bin/agentctl list --json")
			measure(name+"-host-ms", w.agentctl, "list", "--host", name, "--json")
		}
	}
	for range min(b.N, 5) {
		measure("slow-one-ms", w.agentctl, "list", "--host", w.slow[0], "--json")
		measure("slow-all-ms", w.agentctl, "list", "--host", strings.Join(w.slow, ","), "--json")
	}
	for unit, took := range times {
		slices.Sort(took)
		b.ReportMetric(float64(took[len(took)/2].Microseconds())/1000, unit)
	}
}

// emptyList is how a host answers that has no sessions, for printf. So 20 of them need not share the processors here for that.
func emptyList() string {
	hello := fmt.Sprintf(`{"schema":%q}`, output.SchemaID())
	return fmt.Sprintf(`h %d\n%so 3\n[]\nx 1\n0`, len(hello), hello)
}

// world is what the benchmark runs in.
type world struct {
	*sshd.World
	agentctl string
	slow     []string
}

// newWorld makes the hosts near and far, and 20 slow ones.
func newWorld(b *testing.B) world {
	b.Helper()
	sshd.Need(b)
	dir := b.TempDir()
	self, err := os.Executable()
	if err != nil {
		b.Fatal(err)
	}
	w := world{agentctl: filepath.Join(dir, "agentctl")}
	hosts := []sshd.Host{{Name: "near"}, {Name: "far", Via: fmt.Sprintf("%s relay %v", self, roundTrip/2)}}
	for i := range 20 {
		w.slow = append(w.slow, fmt.Sprintf("slow%d", i))
		hosts = append(hosts, sshd.Host{Name: w.slow[i]})
	}
	for i := range hosts {
		hosts[i].UID, hosts[i].Home = 2001, filepath.Join(dir, hosts[i].Name)
	}
	if w.World, err = sshd.New(b.Context(), dir, hosts...); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(w.Close)
	if out, err := exec.Command("../build", w.agentctl).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	for _, h := range hosts {
		program := filepath.Join(h.Home, ".local/bin/agentctl")
		if slices.Contains(w.slow, h.Name) {
			err = os.WriteFile(program, fmt.Appendf(nil, "#!/bin/sh\nsleep %v\nprintf '%s'\n", slowTime.Seconds(), emptyList()), 0o755)
		} else {
			err = os.Link(w.agentctl, program)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	sockets := filepath.Join(dir, "s")
	if err := os.Mkdir(sockets, 0o700); err != nil {
		b.Fatal(err)
	}
	b.Setenv("SSH_OPTIONS", "-oControlMaster=auto -oControlPersist=60 -oControlPath="+sockets+"/%n")
	return w
}
