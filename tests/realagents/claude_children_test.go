package realagents

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestASubAgentIsBroughtAlong: one that works in the background goes on when its terminal turns to another session, and
// stays one session, whose file is then another one.
func TestASubAgentIsBroughtAlong(t *testing.T) {
	w := world.New(t)
	c := agentctlIn(t, w)
	tui, tool := helped(w)
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

// TestASubAgentInAWorktree that was made for it is at work there, and in nobody's way but there.
func TestASubAgentInAWorktree(t *testing.T) {
	for _, version := range []string{install.ClaudeCurrent, install.ClaudeMain} {
		t.Run(version, func(t *testing.T) {
			w := world.New(t)
			c, a := agentctlIn(t, w), w.Claude(version)
			tool := w.Tool(a.Dir())
			if out, err := git(t, a, "commit", "-q", "--allow-empty", "-m", "first"); err != nil {
				t.Fatal(err, out)
			}
			asks := os.Getenv(binary) + " guard && cd " + a.Dir() + " && " + tool.Command
			call, err := json.Marshal(map[string]string{
				"description": "apart", "prompt": "do it [[shell " + asks + "]]", "subagent_type": "general-purpose", "isolation": "worktree",
			})
			if err != nil {
				t.Fatal(err)
			}
			p := a.Run("has help [[tool Agent "+string(call)+";; text from above]]", "--allowedTools=Bash,Agent")
			tool.WaitRunning() // the guard has let it pass
			var sub session
			if !poll(func() bool {
				for _, s := range c.list("--children") {
					if s.ParentID != "" {
						sub = s
					}
				}
				return sub.Status == "running" && sub.CWD != a.Dir() && sub.Branch != ""
			}) || sub.PID != p.PID() || !strings.HasPrefix(sub.CWD, a.Dir()+"/.claude/worktrees/") || sub.Branch != "worktree-"+filepath.Base(sub.CWD) {
				t.Errorf("the sub-agent is %s in %s on %s", rowOf(sub), sub.CWD, sub.Branch)
			}
			if _, errs, code := c.run("guard", sub.CWD); code != 5 {
				t.Errorf("guard of its worktree: exit code %d\n%s", code, errs)
			}
			tool.End()
			p.Wait()
		})
	}
}

// TestASessionMovesToTheBackground: the left arrow key makes a background session of a terminal's, and the terminal shows the
// list of them, for which a further process is held ready.
func TestASessionMovesToTheBackground(t *testing.T) {
	w := world.New(t)
	c, a := agentctlIn(t, w), w.Claude(install.ClaudeCurrent)
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
		return left.Status == "stopped" && left.Meta.Get("continuedIn") != nil
	}) {
		t.Fatalf("the session that was left is %s, %v", rowOf(left), left.Meta)
	}
	moved, _ := left.Meta.Get("continuedIn").(string)
	var rows []session
	is := func(status string) bool {
		return poll(func() bool {
			rows = c.list()
			return len(rows) == 1 && rows[0].ID != nil && *rows[0].ID == moved && rows[0].Status == status && rows[0].PID != tui.PID()
		})
	}
	if !is("running") {
		t.Fatalf("listed are\n  %s", strings.Join(rowsOf(rows), "\n  "))
	}
	w.Model.Release("end")
	if !is("idle") {
		t.Errorf("at the end, listed are\n  %s", strings.Join(rowsOf(rows), "\n  "))
	}
}

// TestAWorkflow has sub-agents work for it: each is a session of its own, and what they use is the session's.
func TestAWorkflow(t *testing.T) {
	for _, version := range []string{install.ClaudeCurrent, install.ClaudeMain} {
		t.Run(version, func(t *testing.T) {
			w := world.New(t)
			c, a := agentctlIn(t, w), w.Claude(version)
			tool := w.Tool(a.Dir())
			call, err := json.Marshal(map[string]string{"script": "export const meta = {name: 'wf', description: 'some work'}\n" +
				"return await agent('inner words [[shell " + tool.Command + "]]', {label: 'one'})\n"})
			if err != nil {
				t.Fatal(err)
			}
			p := a.Run("has it done [[tool Workflow "+string(call)+";; text from above]]", "--allowedTools=Bash,Workflow")
			tool.WaitRunning()
			id := claudeID(t, w, "has it done")
			below := func(args ...string) (sub session) {
				for _, s := range c.list(append(args, "--children")...) {
					if s.ParentID == id {
						sub = s
					}
				}
				return sub
			}
			var sub session
			if !poll(func() bool { sub = below(); return sub.ID != nil }) || rowOf(sub) != row(*sub.ID, p.PID(), "running") {
				t.Fatalf("the sub-agent at work is %s", rowOf(sub))
			}
			if _, errs, code := c.run("guard", a.Dir()); code != 5 {
				t.Errorf("guard: exit code %d\n%s", code, errs)
			}
			tool.End()
			result := lastResult(t, p)
			if sub = below("-a"); rowOf(sub) != row(*sub.ID, 0, "stopped completed") {
				t.Errorf("the sub-agent is %s in the end", rowOf(sub))
			}
			got, want := claudeTokensOf(t, c.status(id)), result.session()
			if out := 1; got[out] < want[out] && writtenTooSoon(t, w.Home) {
				want[out] = got[out]
			}
			if got != want || got == result.usage() {
				t.Errorf("the session has used %v, by the agent's own word %v", got, want)
			}
			if n := len(c.peek(id, "--children")); n <= len(c.peek(id)) {
				t.Errorf("what the sub-agent says is not among the %d messages", n)
			}
		})
	}
}
