package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// eachSet runs the test with each of the things that a system may grant alone.
func eachSet(t *testing.T, test func(t *testing.T, set Set)) {
	for _, set := range (Processes | Network).attempts() {
		t.Run(set.String(), func(t *testing.T) { test(t, set) })
	}
}

func TestExitCodes(t *testing.T) {
	eachSet(t, func(t *testing.T, set Set) {
		if code := start(t, "fail", set).code(); code != 7 {
			t.Errorf("the program ends with 7, the sandbox with %d", code)
		}
		if code := start(t, "die", set).code(); code != 1 {
			t.Errorf("the program is killed, the sandbox ends with %d", code)
		}
	})
}

func TestSignalsReachTheProgram(t *testing.T) {
	eachSet(t, func(t *testing.T, set Set) {
		n := start(t, "heed", set)
		n.waitReady(t)
		if err := n.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code := n.code(); code != 9 {
			t.Errorf("exit code %d", code)
		}
	})
}

// What the program leaves behind ends with it, however it ends, and before the outermost process does.
func TestNothingIsLeft(t *testing.T) {
	eachSet(t, func(t *testing.T, set Set) {
		n := start(t, "leave", set)
		n.waitReady(t)
		if code := n.code(); code != 0 {
			t.Errorf("exit code %d", code)
		}
		n.rest(t)
		for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGKILL} {
			if s == syscall.SIGKILL && set&Processes == 0 {
				continue // nobody is left to end them
			}
			n := start(t, "leave and wait", set)
			n.waitReady(t)
			if err := n.Process.Signal(s); err != nil {
				t.Fatal(err)
			}
			n.code()
			n.rest(t)
		}
	})
}

// TestRefusal has the system allow no pid namespace: there is a network, still.
func TestRefusal(t *testing.T) {
	refuse := []string{"unshare", "--user", "--map-root-user", "/bin/sh", "-c", `echo 0 > /proc/sys/user/max_pid_namespaces && exec "$@"`, "sh"}
	if out, err := exec.Command(refuse[0], append(refuse[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("this system cannot be made to refuse: %v: %s", err, out)
	}
	n := start(t, "tell", Processes|Network, refuse...)
	said := n.rest(t)
	if code, right := n.code(), fmt.Sprintf("%s %d", stageDone, Network); code != 0 || said != right {
		t.Errorf("exit code %d, %q, want %q", code, said, right)
	}
}

// A fresh process table holds the process that collects orphans, and the program.
func TestOnlyOurOwnProcessesAreSeen(t *testing.T) {
	n := start(t, "look", Processes)
	if said := strings.Fields(n.rest(t)); len(said) != 3 || said[0] != "1" || said[1] != "/proc/1" {
		t.Errorf("the parent, and all processes: %q", said)
	}
	if code := n.code(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// Orphans do not stay as zombies; who started a process gets its exit code.
func TestOrphansAreCollected(t *testing.T) {
	if !Inside() {
		t.Skip("this system allows no sandbox")
	}
	release, held, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer release.Close()
	defer held.Close()
	var exit *exec.ExitError
	cmd := exec.Command("/bin/sh", "-c", "head -c 1 <&3 >/dev/null 2>&1 & echo $!; exit 5")
	cmd.ExtraFiles = []*os.File{release}
	out, err := cmd.Output()
	if !errors.As(err, &exit) || exit.ExitCode() != 5 {
		t.Fatalf("%v, want exit code 5", err)
	}
	orphan, err := strconv.Atoi(strings.TrimSpace(string(out)))
	if err != nil {
		t.Fatal(err)
	}
	fd, err := unix.PidfdOpen(orphan, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer unix.Close(fd)
	if parent := parentOf(fmt.Sprintf("/proc/%d", orphan)); parent != os.Getppid() {
		t.Errorf("the orphan's parent is %d, ours %d", parent, os.Getppid())
	}
	if _, err := held.WriteString("x"); err != nil {
		t.Fatal(err)
	}
	// A zombie still takes signals; only who collects it knows when it is gone.
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for deadline := time.Now().Add(time.Minute); ; <-tick.C {
		if errors.Is(unix.PidfdSendSignal(fd, 0, nil, 0), unix.ESRCH) {
			return
		}
		if time.Now().After(deadline) {
			t.Fatal("the orphan is not collected")
		}
	}
}

// The rights that setting up took are gone: bubblewrap refuses to run with any, and the first process would hide from
// a user who has none.
func TestNoRightsAreKept(t *testing.T) {
	if os.Geteuid() == 0 || !Inside() {
		return // root has all rights, here as outside
	}
	for _, pid := range []int{os.Getpid(), os.Getppid()} {
		raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			t.Fatal(err)
		}
		for line := range strings.Lines(string(raw)) {
			kind, set, _ := strings.Cut(strings.TrimSpace(line), ":\t")
			if strings.HasPrefix(kind, "Cap") && kind != "CapBnd" && strings.Trim(set, "0") != "" && kind != "CapInh" {
				t.Errorf("process %d: %s %s", pid, kind, set)
			}
		}
		if _, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid)); err != nil {
			t.Errorf("process %d hides: %v", pid, err)
		}
	}
}
