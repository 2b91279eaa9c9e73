package realagents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/internal/object"
	"agentctl/tests/realagents/install"
)

func asText(messages []object.Message) string {
	text, _ := json.MarshalIndent(messages, "", " ") // it was JSON before
	return string(text)
}

// textsOf are what a role has said.
func textsOf(messages []object.Message, role string) (texts []string) {
	for _, m := range messages {
		if m.Role == role && m.Kind == "text" {
			texts = append(texts, *m.Text)
		}
	}
	return texts
}

// A sub-agent that works in the background goes on when its terminal turns to another session, and stays one session, whose file is then
// another one.
func TestASubAgentIsBroughtAlong(t *testing.T) {
	w, a, c := newest(t, install.ClaudeCode)
	tool := w.Tool(a.Dir())
	tui := a.TUI("--permission-mode", "default", "--allowedTools=Bash,Agent")
	tui.Submit("has help [[agent do it [[shell " + tool.Command + "]];; text from above]]")
	tool.WaitRunning()
	tui.WaitFor("from above")
	first := claudeID(t, w, "has help")
	is := func(when, status string, pid int) (sub session) {
		t.Helper()
		if !poll(func() bool {
			below := slices.DeleteFunc(c.list("-a", "--children"), func(s session) bool { return s.ID == nil || !strings.HasPrefix(*s.ID, "agent-") })
			if len(below) == 1 {
				sub = below[0]
			}
			return len(below) == 1 && rowOf(sub) == row(*sub.ID, pid, status)
		}) {
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
	if *sub.ID != *begun.ID || sub.ParentID == first || sub.Prompt != begun.Prompt || sub.Title != begun.Title || sub.StartedAt != begun.StartedAt {
		t.Errorf("the sub-agent has become %+v\nof %+v", sub, begun)
	}
}

// A sub-agent in a worktree that was made for it is at work there, and in nobody's way but there.
func TestASubAgentInAWorktree(t *testing.T) {
	w, a, c := newest(t, install.ClaudeCode)
	tool := w.Tool(a.Dir())
	call, err := json.Marshal(map[string]string{
		"description": "apart", "prompt": "do it [[shell " + os.Getenv(binary) + " guard && cd " + a.Dir() + " && " + tool.Command + "]]",
		"subagent_type": "general-purpose", "isolation": "worktree",
	})
	if err != nil {
		t.Fatal(err)
	}
	p := a.Run("has help [[tool Agent "+string(call)+";; text from above]]", "--allowedTools=Bash,Agent")
	tool.WaitRunning() // the guard has let it pass
	var sub session
	if !poll(func() bool {
		sub = c.childOf(claudeID(t, w, "has help"))
		return sub.Status == "running" && sub.CWD != a.Dir() && sub.Branch != ""
	}) || sub.PID != p.PID() || !strings.HasPrefix(sub.CWD, a.Dir()+"/.claude/worktrees/") || sub.Branch != "worktree-"+filepath.Base(sub.CWD) {
		t.Errorf("the sub-agent is %s in %s on %s", rowOf(sub), sub.CWD, sub.Branch)
	}
	c.exits(5, "", "guard", sub.CWD)
	tool.End()
	p.Wait()
}

// childOf is the sub-agent of a session.
func (c agentctl) childOf(id string, args ...string) (sub session) {
	c.t.Helper()
	for _, s := range c.list(append(args, "--children")...) {
		if s.ParentID == id {
			sub = s
		}
	}
	return sub
}

// The left arrow key makes a background session of a terminal's, and the terminal shows the list of them, for which a further process is held
// ready.
func TestASessionMovesToTheBackground(t *testing.T) {
	w, a, c := newest(t, install.ClaudeCode)
	tui := a.TUI("--permission-mode", "default")
	tui.Submit("moves away [[hang @end]]")
	w.WaitCall("moves away", 0)
	id := claudeID(t, w, "moves away")
	c.expect([]string{row(id, tui.PID(), "running")})
	tui.Press("\x1b[D")
	tui.WaitFor("moved to the background")
	var left session
	if !poll(func() bool {
		left = c.status(id)
		return left.Status == "stopped" && left.Meta["continuedIn"] != nil
	}) {
		t.Fatalf("the session that was left is %s, %v", rowOf(left), left.Meta)
	}
	moved, _ := left.Meta["continuedIn"].(string)
	is := func(status string) {
		t.Helper()
		var rows []session
		if !poll(func() bool {
			rows = c.list()
			return len(rows) == 1 && rows[0].ID != nil && *rows[0].ID == moved && rows[0].Status == status && rows[0].PID != tui.PID()
		}) {
			t.Fatalf("listed are %q", rowsOf(rows))
		}
	}
	is("running")
	w.Model.Release("end")
	is("idle")
}
