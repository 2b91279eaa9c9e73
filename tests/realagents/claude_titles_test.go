package realagents

import (
	"path/filepath"
	"syscall"
	"testing"

	"agentctl/tests/extent"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestClaudeTitles: what a person called a session is its name in the list, however much was said since, and whatever end
// the session had: Claude Code states the name anew in the end of the transcript only if it stands far back.
func TestClaudeTitles(t *testing.T) {
	ends := map[string]func(*world.TUI){
		"hung up": func(tui *world.TUI) { tui.HangUp() },
		"killed":  func(tui *world.TUI) { tui.Signal(syscall.SIGKILL) },
	}
	versions := []string{install.ClaudeCurrent}
	if extent.All() {
		versions = append(versions, install.ClaudeMain)
	}
	for _, version := range versions {
		for name, end := range ends {
			t.Run(version+" "+name, func(t *testing.T) {
				w := world.New(t)
				c := agentctlIn(t, w)
				a := w.Claude(version)
				a.Run("first prompt").Wait()
				id := claudeID(t, w, "first prompt")
				tui := a.TUI("--allowedTools=Bash", "--resume", id, "-n", "the parser")
				for _, word := range []string{"uno", "due", "tre", "quattro"} {
					tui.Submit("go [[shell seq 2000;; text all is " + word + "]]")
					fileWith(t, filepath.Join(w.Home, ".claude", "projects"), ".jsonl", `"text":"all is `+word)
				}
				end(tui)
				tui.Wait()
				rows := c.list("-a")
				if len(rows) != 1 || rows[0].ID == nil || *rows[0].ID != id || rows[0].Title != "the parser" {
					t.Errorf("listed is %+v", rows)
				}
				if s := c.status(id); s.Title != "the parser" {
					t.Errorf("status shows %q", s.Title)
				}
			})
		}
	}
}
