package realagents

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"agentctl/tests/realagents/install"
)

// A terminal holds all sessions that it has shown: each has a row, and all end together, only by force. What each waits for is what the
// dialog shows; a terminal that is closed in mid-turn has not completed it.
func TestCopilotTerminal(t *testing.T) {
	w, a, c := newest(t, install.Copilot)
	tui := a.TUI()
	pid := tui.PID()
	if rows := c.expect([]string{row(c.onlyID(), pid, "idle")}); rows[0].Evidence.Strength != "exact" {
		t.Errorf("untouched: %+v", rows[0].Evidence)
	}
	tui.Submit("the harbour light")
	tui.WaitFor("OK: the harbour light")
	first := copilotID(t, w, "the harbour light")
	c.expect([]string{row(first, pid, "idle")})
	tui.Submit("/new")
	if !poll(func() bool { return len(c.list()) == 2 }) {
		t.Fatalf("%q, want two sessions of one terminal", rowsOf(c.list()))
	}
	submit(w, tui, "asks [[question Which way?;; shell touch asked]]")
	second := copilotID(t, w, "asks [[question")
	c.expect([]string{row(first, pid, "idle"), row(second, pid, "waiting question")})
	if on := c.status(second).WaitingOn; on == nil || len(on.Questions) != 1 || on.Questions[0] != "Which way?" {
		t.Errorf("it waits on %+v", on)
	}
	c.exits(5, "--force", "stop", second)
	c.exits(5, "live", "resume", first, "goes on")
	c.exits(5, "live", "rm", "--yes", first)
	c.exits(7, "--ui-server", "send", first, "hello")
	tui.HangUp()
	c.expect([]string{row(first, 0, "stopped completed"), row(second, 0, "stopped interrupted")}, "-a")
	c.does("rm", "--yes", first, second)
	c.expect(nil, "-a", "--since", "all")
}

// A run that is ended by a signal exits with 0, and leaves its files behind: it is interrupted. A command of a sub-agent has an ID that is
// stored nowhere: it runs inside of the session of its process. Whoever kills npm's launcher does not end the agent.
func TestCopilotRuns(t *testing.T) {
	w, a, c := newest(t, install.Copilot)
	tool, said := w.Tool(a.Dir()), a.Dir()+"/said"
	run := a.Run("has help [[agent do it [[shell " + os.Getenv(binary) + " current -q > " + said + " 2>&1; " + tool.Command + "]];; text done]]")
	tool.WaitRunning()
	id := copilotID(t, w, "has help")
	c.expect([]string{row(id, run.PID(), "running")})
	if raw, err := os.ReadFile(said); err != nil || strings.TrimSpace(string(raw)) != id {
		t.Errorf("current prints %q, %v; the session is %s", raw, err, id)
	}
	run.Signal(syscall.SIGTERM)
	if code := run.Wait(); code != 0 {
		t.Errorf("exit code %d", code)
	}
	c.expect([]string{row(id, 0, "stopped interrupted")}, "-a")
	c.does("rm", "--yes", id)

	launcher := a
	launcher.Native = a.Shim[0]
	shimmed := launcher.Run("by a launcher [[hang]]")
	w.WaitCall("by a launcher", 0)
	id = copilotID(t, w, "by a launcher")
	agent := c.status(id).PID
	shimmed.Kill()
	if agent == shimmed.PID() || !living(agent) {
		t.Errorf("the agent is %d, its launcher %d", agent, shimmed.PID())
	}
	c.expect([]string{row(id, agent, "running")})
	c.does("stop", id)
	c.expect([]string{row(id, 0, "stopped interrupted")}, "-a")
}

// A session that goes on in another directory stays there, in lists too.
func TestCopilotElsewhere(t *testing.T) {
	w, a, c := newest(t, install.Copilot)
	id := c.launched("copilot", "-p", "begun here")
	c.expect([]string{row(id, 0, "stopped completed")}, "-a")
	elsewhere := w.Dir("elsewhere")
	c.does("resume", id, "--cwd", elsewhere, "--wait", "goes on there")
	for _, where := range []string{c.list("-a")[0].CWD, c.status(id).CWD} {
		if where != elsewhere {
			t.Errorf("it is in %s, begun in %s", where, a.Dir())
		}
	}
	if got := fmt.Sprint(prompts(t, w, a, id, 2)); got != "[begun here goes on there]" {
		t.Error(got)
	}
}
