package sandbox

import (
	"strings"
	"syscall"
	"testing"
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
