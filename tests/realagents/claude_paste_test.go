package realagents

import (
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// TestClaudePaste: what a person pastes is a prompt like any other, however it is stored.
func TestClaudePaste(t *testing.T) {
	for _, version := range []string{install.ClaudeCurrent, install.ClaudeMain} {
		t.Run(version, func(t *testing.T) {
			w := world.New(t)
			c := agentctlIn(t, w)
			tui := w.Claude(version).TUI()
			const paste = "line one\nline two\nline three\nline four\nline five"
			tui.Press("\x1b[200~" + paste + "\x1b[201~")
			tui.WaitFor("[Pasted text #1")
			tui.Press(term.Enter)
			id := claudeID(t, w, "line three")
			tui.WaitFor("OK:")
			tui.Submit("then typed")
			tui.WaitFor("OK: then typed")
			if s := c.status(id); s.Prompt != paste {
				t.Errorf("the prompt is %q", s.Prompt)
			}
			if said := c.peek(id, "-n", "0"); len(said) == 0 || said[0].Text == nil || *said[0].Text != paste {
				t.Errorf("said is\n%s", asText(said))
			}
		})
	}
}
