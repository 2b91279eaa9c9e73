package realagents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestClaudeStopMidTool: the session ends with the command it runs, however it is asked to print. 2.1.197 leaves the
// command running when it prints events, and goes on with its turn when it prints text: here the model then hangs.
func TestClaudeStopMidTool(t *testing.T) {
	eachClaude(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		for _, flags := range [][]string{
			{"--", "--allowedTools=Bash"}, {"--", "--allowedTools=Bash", "--output-format", "stream-json", "--verbose"},
		} {
			tool := w.Tool(a.Dir())
			args := append([]string{"claude-code", "--force", "-p", "[[shell " + tool.Command + ";; hang]]"}, flags...)
			id := c.launched(args...)
			tool.WaitRunning()
			mark := tool.Command[strings.LastIndex(tool.Command, " ")+1:]
			if !inCommandLines(mark) {
				t.Fatalf("no process shows %q", mark)
			}
			out, errs, code := c.run("stop", id)
			if s := c.status(id); code != 0 || s.Status != "stopped" {
				t.Errorf("%q: exit code %d, %s\n%s%s", flags, code, rowOf(s), out, errs)
			}
			if inCommandLines(mark) {
				t.Errorf("%q: the command goes on", flags)
			}
		}
		if rows := rowsOf(c.list()); len(rows) > 0 {
			t.Errorf("still live: %q", rows)
		}
	})
}

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
