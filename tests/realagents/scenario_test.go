package realagents

import (
	"path/filepath"
	"slices"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// stores are the folders that hold an agent's sessions.
func stores(w *world.World, agent string) string {
	return map[string]string{
		install.ClaudeCode: filepath.Join(w.Home, ".claude/projects"), install.Codex: filepath.Join(w.Home, ".codex/sessions"), install.OpenCode: w.OpenCodeHome(),
	}[agent]
}

// TestATerminalsDeathMeansNothing to a session that the daemon behind it runs.
func TestATerminalsDeathMeansNothing(t *testing.T) {
	w := world.New(t)
	c := agentctlIn(t, w)
	tui := w.Codex(install.CodexCurrent).TUI()
	tui.Submit("outlives its terminal [[hang]]")
	w.WaitCall("outlives its terminal", 0)
	id := codexID(t, w, "outlives its terminal")
	c.expect([]string{row(id, tui.PID(), "running")})
	tui.Kill()
	want := []string{row(id, daemonPID(t, w), "running")}
	if got := rowsOf(c.list()); !slices.Equal(got, want) {
		t.Errorf("after the terminal's death: %q, want %q", got, want)
	}
}
