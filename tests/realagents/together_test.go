package realagents

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"agentctl/tests/extent"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// generations are sets of all three agents, as one person may have them installed: the newest of each, and the oldest too if all is asked for.
func generations() map[string][]install.Release {
	sets := map[string][]install.Release{"current": install.Newest()}
	if extent.All() {
		sets["oldest"] = []install.Release{
			{Agent: install.ClaudeCode, Version: install.ClaudeNode},
			{Agent: install.Codex, Version: install.CodexOld},
			{Agent: install.OpenCode, Version: install.OpenCodeOld},
		}
	}
	return sets
}

// TestAllAtOnceInOneDirectory: S21. Four launches of each of the three agents at the same moment and in the same place
// are twelve sessions in twelve processes, and each launch prints the one that the agent stored its very prompt in.
func TestAllAtOnceInOneDirectory(t *testing.T) {
	for name, releases := range generations() {
		t.Run(name, func(t *testing.T) {
			w := world.New(t)
			const each = 4
			dir := w.Dir("together")
			var agents []world.Agent
			for _, r := range releases {
				agents = append(agents, w.Release(r))
			}
			c := agentctlIn(t, w).asAll(agents...)
			c.dir = dir
			launched := launchAll(c, agents, each)
			var want, pids []string
			for prompt, l := range launched {
				if got := idOf(t, w, l.agent, prompt); got != l.id {
					t.Errorf("%s is asked %q, and %q is printed", got, prompt, l.id)
					continue
				}
				s := c.status(l.id)
				if s.CWD != dir || s.Evidence == nil || s.Evidence.Strength != "exact" {
					t.Errorf("%s in %s, evidence %+v", rowOf(s), s.CWD, s.Evidence)
				}
				want, pids = append(want, row(l.id, s.PID, "running")), append(pids, fmt.Sprint(s.PID))
				env, _ := os.ReadFile(fmt.Sprintf("/proc/%d/environ", s.PID))
				if !slices.Contains(strings.Split(string(env), "\x00"), "ASKED="+prompt) {
					t.Errorf("pid %d is not of the launch of %q", s.PID, prompt)
				}
			}
			c.expect(want)
			slices.Sort(pids)
			if n := len(slices.Compact(pids)); n != 3*each {
				t.Errorf("%d processes", n)
			}
			stopAll(c, launched)
			if left := inhabitants(w.Home); len(left) > 0 {
				t.Errorf("after stop there are left\n%s", strings.Join(left, "\n"))
			}
		})
	}
}

// launchedAs is what one launch printed.
type launchedAs struct {
	agent world.Agent
	id    string
}

// launchAll launches each agent n times, all at once, and returns what was printed by prompt.
func launchAll(c agentctl, agents []world.Agent, n int) map[string]launchedAs {
	c.t.Helper()
	out := map[string]launchedAs{}
	var mu sync.Mutex
	var group sync.WaitGroup
	for i := range n {
		for _, a := range agents {
			group.Go(func() {
				prompt := fmt.Sprintf("%s number %d [[hang]]", a.Agent(), i)
				id, errs, code := c.runAmongMany("launch", a.Agent(), "--force", "--timeout", "5m", "-p", prompt, "--env", "ASKED="+prompt)
				if code != 0 {
					c.t.Errorf("%s: exit code %d\n%s", prompt, code, errs)
				}
				mu.Lock()
				defer mu.Unlock()
				out[prompt] = launchedAs{a, strings.TrimSpace(id)}
			})
		}
	}
	group.Wait()
	return out
}

// runAmongMany is run for a launch beside others. Of many at once, one of OpenCode may wait too long for the others to write, and end with
// that (SEEN 1.18.33): then it is launched again.
func (c agentctl) runAmongMany(args ...string) (stdout, stderr string, code int) {
	c.t.Helper()
	for {
		stdout, stderr, code = c.run(args...)
		if code != 1 || !strings.Contains(stderr, "opencode failed") || !strings.Contains(stderr, "database is locked") {
			return stdout, stderr, code
		}
	}
}

// stopAll stops them by their IDs, in one command.
func stopAll(c agentctl, launched map[string]launchedAs) {
	c.t.Helper()
	args := []string{"stop", "--timeout", "2m"}
	for _, l := range launched {
		args = append(args, l.id)
	}
	if out, errs, code := c.run(args...); code != 0 || strings.Count(out, "\n") != len(launched) {
		c.t.Errorf("stop: exit code %d\n%s%s", code, out, errs)
	}
}
