package realagents

import (
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestClaudeLeavesAWorktree that it went to in the middle of the session, and is on its old branch again.
func TestClaudeLeavesAWorktree(t *testing.T) {
	for _, version := range []string{install.ClaudeCurrent, install.ClaudeMain} {
		t.Run(version, func(t *testing.T) {
			w := world.New(t)
			c, a := agentctlIn(t, w), w.Claude(version)
			tui := a.TUI("--allowedTools=EnterWorktree,ExitWorktree")
			tui.Submit(`go [[tool EnterWorktree {"name":"other"};; text gone there]]`)
			tui.WaitFor("gone there")
			id := claudeID(t, w, "gone there")
			at := func(dir, branch string) {
				t.Helper()
				var s session
				if !poll(func() bool { s = c.status(id); return s.CWD == dir && s.Branch == branch }) {
					t.Errorf("it is in %s on %q", s.CWD, s.Branch)
				}
			}
			at(a.Dir()+"/.claude/worktrees/other", "worktree-other")
			c.expect([]string{row(id, tui.PID(), "idle")}) // who types while it draws its answer does not see his own words
			tui.Submit(`back [[tool ExitWorktree {"action":"remove"};; text home again]]`)
			tui.WaitFor("home again")
			at(a.Dir(), "main")
		})
	}
}
