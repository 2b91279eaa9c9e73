package sshd_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/tests/sshd"
)

// What a host costs, with a shared connection: `go test ./tests/sshd -run - -bench Cost -benchtime 20x`. It reports the times of `ssh H agentctl list`,
// of `list --host H`, of the slowest of 20 hosts alone, and of all 20 at once.
func BenchmarkCost(b *testing.B) {
	dir := b.TempDir()
	uid := os.Getuid()
	if uid == 0 {
		uid = 2001
	}
	for d := dir; d != "/" && d != os.TempDir(); d = filepath.Dir(d) {
		if err := os.Chmod(d, 0o711); err != nil {
			b.Fatal(err)
		}
	}
	var hosts []sshd.Host
	var names []string
	for i := range 20 {
		name := fmt.Sprintf("h%d", i)
		names = append(names, name)
		hosts = append(hosts, sshd.Host{Name: name, UID: uid + i*min(uid-os.Getuid(), 1), Home: filepath.Join(dir, name)})
	}
	w, err := sshd.New(b.Context(), dir, hosts...)
	if err != nil {
		b.Fatal(err)
	}
	program := filepath.Join(dir, "agentctl")
	if out, err := exec.Command("../build", program).CombinedOutput(); err != nil {
		b.Fatalf("%v\n%s", err, out)
	}
	sockets := filepath.Join(dir, "s")
	if err := os.Mkdir(sockets, 0o700); err != nil {
		b.Fatal(err)
	}
	config, err := os.OpenFile(filepath.Join(dir, "ssh_config"), os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	_, err = fmt.Fprintf(config, "  ControlMaster auto\n  ControlPath %s/%%n\n  ControlPersist 60\n", sockets)
	if err := errors.Join(err, config.Close()); err != nil {
		b.Fatal(err)
	}
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
	for _, h := range hosts {
		if err := os.Link(program, filepath.Join(h.Home, ".local/bin/agentctl")); err != nil {
			b.Fatal(err)
		}
		run(ssh, h.Name, "true") // the master stays
		b.Cleanup(func() { run(ssh, "-O", "exit", h.Name) })
	}
	var direct, one, slowest, all time.Duration
	b.ResetTimer()
	for range b.N {
		direct += run(ssh, "h0", ".local/bin/agentctl list --json")
		one += run(program, "list", "--host", "h0", "--json")
		worst := time.Duration(0)
		for _, name := range names {
			worst = max(worst, run(program, "list", "--host", name, "--json"))
		}
		slowest += worst
		all += run(program, "list", "--host", strings.Join(names, ","), "--json")
	}
	for unit, took := range map[string]time.Duration{"ssh-ms": direct, "host-ms": one, "slowest-ms": slowest, "all-ms": all} {
		b.ReportMetric(float64(took.Microseconds())/1000/float64(b.N), unit)
	}
}
