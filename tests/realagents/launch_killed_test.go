package realagents

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/tests/realagents/world"
)

// TestKilledAtAnyMomentOfALaunch: S1, S2, S19, S20. agentctl is killed at many moments between its own start and the
// printing of the ID, with older releases at half as many. After each of them either nothing runs, or what runs is listed live,
// at once; and what was started gets its ID by itself, has the prompt, and can be stopped.
func TestKilledAtAnyMomentOfALaunch(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		c := agentctlIn(t, w).as(a)
		begun := time.Now()
		id := c.launched(a.Agent(), "-p", "undisturbed [[hang]]")
		whole := time.Since(begun)
		c.stopped(id)
		lived := 0
		half := 3
		if !newest(a.Release) {
			half = 2
		}
		moments := momentsOf(whole, half)
		for i, after := range moments {
			prompt := fmt.Sprintf("moment %d [[hang]]", i)
			printed := c.killedAfter(after, "launch", a.Agent(), "-p", prompt, "--output", c.said())
			switch pid := c.liveOrNothing(); {
			case pid != 0:
				lived++
				c.goesOn(w, a, pid, prompt, printed)
			case printed != "":
				t.Errorf("%s is printed after %s, and nothing runs", printed, after)
			}
		}
		t.Logf("a launch takes %s; of %d that were killed %d had started their agent", whole, len(moments), lived)
	})
}

// momentsOf are after how much of a launch it is killed, twice as many as half: the one half of them falls into the first
// tenth, in which the agent is started.
func momentsOf(whole time.Duration, half int) (list []time.Duration) {
	fraction := func(n, of int) time.Duration { return whole * time.Duration(n) / time.Duration(of) }
	for i := range half {
		list = append(list, fraction(i, 10*half), fraction(i+1, half))
	}
	return list
}

// liveOrNothing is the process that is listed live, 0 if nothing runs. What runs and is not listed is an error.
func (c agentctl) liveOrNothing() int {
	c.t.Helper()
	var left []string
	done := poll(func() bool { // what agentctl has begun to start may still be a copy of itself
		left = inhabitants(c.home)
		return !slices.ContainsFunc(left, func(s string) bool { return strings.Contains(s, os.Getenv(binary)) })
	})
	rows := slices.DeleteFunc(c.list(), func(s session) bool { return s.PID == 0 }) // who is starting may yet turn out to run it
	switch {
	case !done, len(rows) > 1, len(left) > 0 && len(rows) == 0:
		c.t.Fatalf("there is listed %q, and there run\n%s", rowsOf(rows), strings.Join(left, "\n"))
	case len(rows) == 0:
		return 0
	}
	if rows[0].Status != "running" {
		c.t.Errorf("a starting agent is %s", rowOf(rows[0]))
	}
	return rows[0].PID
}

// goesOn checks that an agent whose launch was killed gets its ID; then it is stopped, and nothing is left.
func (c agentctl) goesOn(w *world.World, a world.Agent, pid int, prompt, printed string) {
	c.t.Helper()
	defer func() {
		if words, _ := os.ReadFile(c.said()); c.t.Failed() {
			c.t.Logf("asked %q, it said %s", prompt, words)
		}
	}()
	var rows []session
	if !poll(func() bool {
		rows = c.list()
		return len(rows) == 1 && rows[0].ID != nil || !living(pid)
	}) || len(rows) != 1 || rows[0].PID != pid {
		c.t.Errorf("pid %d of %q: %q", pid, prompt, rowsOf(rows))
		return
	}
	id := idOf(c.t, w, a, prompt)
	c.expect([]string{row(id, pid, "running")})
	if printed != "" && printed != id {
		c.t.Errorf("%s was asked %q, and %s is printed", id, prompt, printed)
	}
	if s := c.stopped(id); s.Result != "stopped" {
		c.t.Errorf("%+v", s)
	}
	// Codex, ended in its first moments, may have just begun a shell that tries its snapshot and ends by itself.
	if !poll(func() bool { return len(inhabitants(w.Home)) == 0 }) {
		c.t.Errorf("there are left\n%s", strings.Join(inhabitants(w.Home), "\n"))
	}
}

// said is where the agents' own words are kept, should one end.
func (c agentctl) said() string { return filepath.Join(c.home, "said") }

// killedAfter runs agentctl and kills it, and it alone, after a while. It returns what that has printed.
func (c agentctl) killedAfter(d time.Duration, args ...string) string {
	c.t.Helper()
	var out bytes.Buffer
	cmd := exec.Command(os.Getenv(binary), args...)
	cmd.Env, cmd.Dir, cmd.Stdout = append([]string{"HOME=" + c.home}, c.env...), c.dir, &out
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	timer := time.AfterFunc(d, func() { _ = cmd.Process.Kill() })
	defer timer.Stop()
	_ = cmd.Wait() // killed, or done
	return strings.TrimSpace(out.String())
}
