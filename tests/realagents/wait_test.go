package realagents

import (
	"os"
	"path/filepath"
	"testing"

	"agentctl/internal/output"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// waits waits for a session, and expects what is printed.
func (c agentctl) waits(want string, args ...string) {
	c.t.Helper()
	if out, errs, code := c.run(append([]string{"wait"}, args...)...); code != 0 || out != want+"\n" {
		c.t.Errorf("wait %q: exit code %d, %q, want %q\n%s", args, code, out, want, errs)
	}
}

// TestWaitTellsOfALiveTurn in a terminal: its end, and that the user is asked for permission.
func TestWaitTellsOfALiveTurn(t *testing.T) {
	for _, r := range install.Newest() {
		t.Run(r.String(), func(t *testing.T) {
			w := world.New(t)
			c := agentctlIn(t, w)
			a := w.Release(r)
			if r.Agent == install.OpenCode { // which asks for nothing else
				if err := os.WriteFile(filepath.Join(a.Dir(), "opencode.json"), []byte(`{"permission":{"bash":"ask","edit":"ask"}}`), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			tui := a.TUI()
			tui.Submit("in a terminal [[hang 5s]]") // an @ would ask OpenCode for a file's name
			w.WaitCall("in a terminal", 0)
			id := idOf(t, w, a, "in a terminal [[hang 5s]]")
			c.waits(id+"  idle", id, "--until", "idle")
			tui.HangUp()
			if r.Agent == install.ClaudeCode { // later ones decide by themselves
				a = w.Claude(install.ClaudeMain)
			}
			prompt := "asks [[shell touch q]]"
			if r.Agent == install.Codex {
				prompt = "asks [[escalate touch q]]"
			}
			asking := a.TUI()
			asking.Submit(prompt)
			w.WaitCall("asks", 0) // from now on it is not idle
			id = idOf(t, w, a, prompt)
			c.waits(id+"  waiting  permission", id, "--until", "waiting")
			var on *output.WaitingOn // the call may be stored a moment later
			if !poll(func() bool {
				on = c.status(id).WaitingOn
				return on != nil && on.Brief == "touch q" && isShell(on.Tool)
			}) {
				t.Errorf("it waits on %+v", on)
			}
			asking.HangUp()
			asking.Wait()
			asksToEdit(t, w, c, a)
		})
	}
}

// isShell tells the tool by which each agent's model runs a command.
func isShell(tool string) bool { return tool == "Bash" || tool == "exec_command" || tool == "bash" }
