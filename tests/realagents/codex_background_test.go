package realagents

import (
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestCodexShowsACommandInTheBackground: a command that outlives what Codex waits for is shown by the calls that wait on.
func TestCodexShowsACommandInTheBackground(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	tool := w.Tool(a.Dir())
	a.Run("slow [[shell " + tool.Command + "]]")
	tool.WaitRunning()
	id := codexID(t, w, "slow")
	brief, shown := "", false
	poll(func() bool {
		for _, m := range c.peek(id) {
			if m.Tool != nil && m.Tool.Name == "write_stdin" {
				brief, shown = m.Tool.Brief, true
			}
		}
		return shown
	})
	if !shown || !strings.Contains(brief, strings.TrimSpace(tool.Command)) {
		t.Errorf("a call of write_stdin (%v) is shown as %q, want %q", shown, brief, tool.Command)
	}
	tool.End()
}
