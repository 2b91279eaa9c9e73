package isolate_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"agentctl/tests/bench/isolate"
)

func TestMain(m *testing.M) {
	if code, ran := isolate.Enter(); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

func TestOnlyOurOwnProcessesAreSeen(t *testing.T) {
	if !isolate.Inside() {
		t.Log("the system allows no pid namespace: said on stderr, and nothing to see here")
		return
	}
	if os.Getpid() != 1 {
		t.Errorf("pid %d, not the first of its namespace", os.Getpid())
	}
	out, err := exec.Command("sh", "-c", "for p in /proc/[0-9]*; do echo ${p#/proc/}; done").Output()
	if err != nil {
		t.Fatal(err)
	}
	if pids := strings.Fields(string(out)); len(pids) > 4 {
		t.Errorf("processes %q", pids)
	}
}
