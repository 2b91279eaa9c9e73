package realagents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestClaudeStopBackground: a background session is ended for good, and its daemon starts no other.
func TestClaudeStopBackground(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeCurrent)
	c := agentctlIn(t, w).as(a)
	a.Output("--bg", "in the background [[hang]]")
	w.WaitCall("in the background", 0)
	id := claudeID(t, w, "in the background [[hang]]")
	if !poll(func() bool { s := c.status(id); return s.Status == "running" && s.PID != 0 && s.Source == "bg" }) {
		t.Fatalf("it is %s", rowOf(c.status(id)))
	}
	pid := c.status(id).PID
	if out, errs, code := c.run("stop", id); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out, errs)
	}
	if s := c.status(id); s.Status != "stopped" || living(pid) {
		t.Errorf("after stop: %s, pid %d alive: %v", rowOf(s), pid, living(pid))
	}
	state, err := os.ReadFile(filepath.Join(w.Home, ".claude", "jobs", id[:8], "state.json"))
	if err != nil || !strings.Contains(string(state), `"stopped"`) {
		t.Errorf("Claude Code's own job is not stopped: %v %s", err, state)
	}
	if rows := rowsOf(c.list()); len(rows) > 0 {
		t.Errorf("still live: %q", rows)
	}
}
