package realagents

import (
	"fmt"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestDemo is what tests/demo shows: one session of each agent, what agentctl says of them, and what it says after one
// was killed. As a test it sees to it that the demonstration stays true.
func TestDemo(t *testing.T) {
	w := world.New(t)
	c := agentctlIn(t, w)
	say("Three real agents start, each in a repository of its own; their model is a server on loopback.")
	claude := w.Claude(install.ClaudeCurrent)
	tool := w.Tool(claude.Dir())
	working := claude.Run("run the slow tests [[shell " + tool.Command + "]]")
	tool.WaitRunning()
	thinking := w.Codex(install.CodexCurrent).Run("port the parser to the new lexer [[hang]]")
	w.WaitCall("port the parser", 0)
	resting := w.OpenCode(install.OpenCodeCurrent).TUI()
	resting.Submit("why is the build slow?")
	resting.WaitFor("OK: why is the build slow?")
	id := claudeID(t, w, "run the slow tests")
	c.expect([]string{
		row(id, working.PID(), "running"),
		row(codexID(t, w, "port the parser"), thinking.PID(), "running"),
		row(openCodeID(t, w, "why is the build slow?"), resting.PID(), "idle"),
	})

	say("What lives now:")
	c.show("list")
	say("Why agentctl says so of one of them:")
	c.show("status", id[:8], "--explain")
	say(fmt.Sprintf("$ kill -9 %d", working.PID()))
	working.Kill()
	say("The next call knows, whatever files the agent has left behind:")
	out := c.show("list", "-a")
	if !strings.Contains(out, "stopped") {
		t.Errorf("the killed session is not shown as stopped")
	}
	c.show("status", id[:8])
	say("Everything that was started is ended and removed now.")
}

func say(text string) { fmt.Printf("\n%s\n", text) }

// show runs a command as a person would and prints what they would see.
func (c agentctl) show(args ...string) string {
	c.t.Helper()
	out, errs, code := c.run(args...)
	fmt.Printf("\n$ agentctl %s\n%s%s", strings.Join(args, " "), strings.ReplaceAll(out, c.home, "~"), errs)
	if code != 0 {
		c.t.Errorf("agentctl %q: exit code %d", args, code)
	}
	return out
}
