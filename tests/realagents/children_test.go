package realagents

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/internal/object"
	"agentctl/tests/debian"
	"agentctl/tests/model"
	"agentctl/tests/must"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
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

// teamEnv makes Claude Code name sub-agents teammates that have names.
const teamEnv = "CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS=1"

// leadPrompt makes a session start a teammate, "mate", which is told so much.
func leadPrompt(t *testing.T, told string) string {
	t.Helper()
	call, err := json.Marshal(map[string]string{"description": "part one", "prompt": told, "name": "mate"})
	must.Do(t, err)
	return "lead them [[tool Agent " + string(call) + ";; text lead has spoken]]"
}

// waitTold waits until the model was asked by the teammate that was told so.
func waitTold(t *testing.T, w *world.World, told string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	if _, err := w.Model.WaitRequest(ctx, func(q model.Request) bool { return !q.Side && strings.HasPrefix(q.Prompt, told) }); err != nil {
		t.Fatalf("waiting for %q: %v", told, err)
	}
}

// pane runs an agent in a window of tmux, which the agent can use, too. It returns a function that runs a command of tmux.
func pane(t *testing.T, a world.Agent, env []string, args ...string) func(...string) string {
	t.Helper()
	root, err := debian.Ensure(t.Context(), debian.Tmux())
	must.Do(t, err)
	bin := t.TempDir()
	program, socket := filepath.Join(bin, "tmux"), filepath.Join(bin, "socket")
	must.Do(t, root.Script(program, debian.Tmux().Files[0]))
	run := func(args ...string) string {
		t.Helper()
		cmd := exec.Command(program, append([]string{"-u", "-S", socket}, args...)...)
		cmd.Env = env
		for i, variable := range env {
			if path, ok := strings.CutPrefix(variable, "PATH="); ok {
				env[i] = "PATH=" + bin + ":" + strings.TrimPrefix(path, bin+":")
			}
		}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %q: %v\n%s", args, err, out)
		}
		return strings.TrimRight(string(out), "\n")
	}
	run(append([]string{"-f", os.DevNull, "new-session", "-d", "-x", "180", "-y", "50", "-s", "work", "-c", a.Dir(), a.Native}, args...)...)
	return run
}

// TestClaudeTeamInTmux: a teammate in a pane of its own is a session of its own. It does not register.
func TestClaudeTeamInTmux(t *testing.T) {
	w, a, c := newest(t, install.ClaudeCode)
	tmux := pane(t, a, append(a.Environ(), teamEnv), "--teammate-mode", "tmux", "--permission-mode", "default", "--allowedTools=Bash,Agent")
	shows := func(text string) {
		t.Helper()
		screen := ""
		if !poll(func() bool { screen = tmux("capture-pane", "-p", "-t", "work:0.0"); return term.Contains(screen, text) }) {
			t.Fatalf("no %q on the screen:\n%s", text, screen)
		}
	}
	shows("? for shortcuts")
	prompt := leadPrompt(t, "begin with this [[hang @mate]]")
	tmux("send-keys", "-t", "work:0.0", "-l", prompt)
	shows("lead has spoken]]")
	tmux("send-keys", "-t", "work:0.0", "Enter")
	waitTold(t, w, "begin with this")
	lead := claudeID(t, w, "lead them")

	var mate session
	is := func(when, status string) {
		t.Helper()
		var rows []session
		if !poll(func() bool {
			rows = c.list()
			mate = session{}
			for _, s := range rows {
				if s.Title == "mate" {
					mate = s
				}
			}
			return len(rows) == 2 && mate.ID != nil && mate.Status == status
		}) {
			t.Fatalf("%s, the rows are %q", when, rowsOf(rows))
		}
	}
	is("at work", "running")
	if mate.ParentID != lead || mate.Group != "session-"+lead[:8] || mate.Prompt != "" || mate.PID == c.status(lead).PID {
		t.Errorf("the teammate is %+v", mate)
	}
	if got := textsOf(c.peek(*mate.ID), "user"); len(got) > 0 {
		t.Errorf("the user is said to have said %q", got)
	}
	c.does("status", "--alive", *mate.ID)
	c.exits(124, "", "wait", *mate.ID, "--until", "idle", "--timeout", "1s")
	c.exits(5, "", "resume", *mate.ID, "another turn")
	c.exits(5, "", "guard", a.Dir())
	w.Model.Release("mate")
	is("after its turn", "idle")
	shows("@mate finished") // the lead was told, and has answered
	isIdle := func(when string) {
		t.Helper()
		if !poll(func() bool { return c.status(lead).Status == "idle" }) {
			t.Errorf("%s, the lead is %s", when, rowOf(c.status(lead)))
		}
	}
	isIdle("after the teammate's turn")
	if s := c.status(lead); s.Meta["turns"] != float64(1) || !slices.Equal(textsOf(c.peek(lead), "user"), []string{prompt}) {
		t.Errorf("the user is said to have asked the lead %v times, %q", s.Meta["turns"], textsOf(c.peek(lead), "user"))
	}
	if out := c.does("search", "begin with this", "--role", "user", "--json"); strings.Contains(out, *mate.ID) {
		t.Errorf("search: %s", out)
	}
	if c.does("stop", *mate.ID); living(mate.PID) {
		t.Error("it is alive after stop")
	}
	if s := c.status(*mate.ID); rowOf(s) != row(*mate.ID, 0, "stopped completed") || s.Title != "mate" {
		t.Errorf("the teammate has become %s", rowOf(s))
	}
	isIdle("without the teammate")
}
