//go:build linux && (amd64 || arm64)

package main

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/trace"
)

// listOfWhatLives: what the players play is recognised, from a home that is not theirs, and the search for it in that home
// costs no more than a page for each of them, however much is stored there.
func listOfWhatLives(t *testing.T, small, large world) {
	work := t.TempDir()
	live, err := startLive(work, filepath.Join(work, "live"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := live.stop(); err != nil {
			t.Error(err)
		}
	}()
	other := bystander(t)
	few, err := live.listed(small.agentctl, small.home)
	if err != nil {
		t.Fatal(err)
	}
	many, err := live.listed(large.agentctl, large.home)
	if err != nil {
		t.Fatal(err)
	}
	a, b := onFiles(few), onFiles(many)
	t.Logf("%d and %d calls on files", a, b)
	if b-a > players {
		t.Errorf("%d sessions: %d calls on files; %d sessions: %d", len(small.sessions), a, len(large.sessions), b)
	}
	live.inspectedOnce(t, many)
	if opened := opens(many, other); len(opened) > 0 {
		t.Errorf("of what is no agent are opened %v", opened)
	}
}

// inspectedOnce: each fact of each player is read once, and it is seen to be the same process all the while no more often
// than there are facts.
func (c *cast) inspectedOnce(t *testing.T, calls []trace.Call) {
	t.Helper()
	// stat is read with the table, and again with each fact: arguments, directory, environment, files, ports, root, standing.
	limits := map[string]int{"cmdline": 1, "environ": 1, "status": 1, "fd": 1, "stat": 8}
	most := map[string]int{}
	for _, player := range c.running {
		opened := opens(calls, player.Process.Pid)
		for name, n := range opened {
			if most[name] = max(most[name], n); n > limits[name] && limits[name] > 0 {
				t.Errorf("%s of %s is opened %d times", name, filepath.Base(player.Path), n)
			}
		}
		if opened["environ"] == 0 {
			t.Errorf("the environment of %s is not read", filepath.Base(player.Path))
		}
	}
	t.Logf("of one process are opened at most %v", most)
}

// bystander starts a process that is no agent, and ends it with the test.
func bystander(t *testing.T) (pid int) {
	t.Helper()
	cmd := exec.Command("cat")
	alive, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(alive.Close(), cmd.Wait()); err != nil {
			t.Error(err)
		}
	})
	return cmd.Process.Pid
}

// opens counts what was opened of a process, by name.
func opens(calls []trace.Call, pid int) map[string]int {
	out := map[string]int{}
	for _, c := range calls {
		name, ok := strings.CutPrefix(c.Path, fmt.Sprintf("/proc/%d/", pid))
		if ok && c.Name == "openat" {
			out[name]++
		}
	}
	return out
}
