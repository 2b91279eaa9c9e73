package realagents

import (
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestASubAgentIsBroughtAlong: one that works in the background goes on when its terminal turns to another session, and
// stays one session, whose file is then another one.
func TestASubAgentIsBroughtAlong(t *testing.T) {
	w := world.New(t)
	c, a := agentctlIn(t, w), w.Claude(install.ClaudeCurrent)
	tool := w.Tool(a.Dir())
	tui := a.TUI("--permission-mode", "default", "--allowedTools=Bash,Agent")
	tui.Submit("has help [[agent do it [[shell " + tool.Command + "]];; text from above]]")
	tool.WaitRunning()
	tui.WaitFor("from above")
	first := claudeID(t, w, "has help")
	below := func(status string, pid int) (sub session, ok bool) {
		n := 0
		for _, s := range c.list("-a", "--children") {
			if s.ID != nil && strings.HasPrefix(*s.ID, "agent-") {
				sub = s
				n++
			}
		}
		return sub, n == 1 && rowOf(sub) == row(*sub.ID, pid, status)
	}
	is := func(when, status string, pid int) (sub session) {
		t.Helper()
		if !poll(func() (ok bool) { sub, ok = below(status, pid); return ok }) {
			t.Fatalf("%s, the sub-agent is %s, of %s", when, rowOf(sub), sub.ParentID)
		}
		return sub
	}
	begun := is("before", "running", tui.PID())
	tui.Submit("/clear")
	tui.WaitGone("from above")
	if !poll(func() bool { return c.status(first).Status == "stopped" }) {
		t.Fatalf("the session that was left is %s", rowOf(c.status(first)))
	}
	is("after /clear", "running", tui.PID())
	tool.End()
	sub := is("at the end", "stopped completed", 0)
	if *sub.ID != *begun.ID || sub.ParentID == first || sub.Prompt != begun.Prompt || sub.Title != begun.Title ||
		sub.StartedAt != begun.StartedAt {
		t.Errorf("the sub-agent has become %+v\nof %+v", sub, begun)
	}
	if got := c.status(*sub.ID); rowOf(got) != rowOf(sub) {
		t.Errorf("status says %s", rowOf(got))
	}
}
