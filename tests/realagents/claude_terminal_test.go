package realagents

import (
	"os"
	"os/exec"
	"slices"
	"testing"

	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// TestClaudeResumeInTerminal: without a message, agentctl becomes Claude Code's own interface on the session, which goes
// on as it was.
func TestClaudeResumeInTerminal(t *testing.T) {
	eachClaude(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		const model = "claude-haiku-4-5"
		id := c.launched("claude-code", "--model", model, "--permissions", "edit", "-p", "remember the harbour")
		c.expect([]string{row(id, 0, "stopped completed")}, "-a")
		cmd := exec.Command(os.Getenv(binary), "resume", id)
		cmd.Env, cmd.Dir = a.Environ(), "/"
		terminal, err := term.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		defer func() {
			terminal.Close()
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}()
		shows := func(text string) {
			t.Helper()
			if !poll(func() bool { screen, _ := terminal.Screen(); return term.Contains(screen, text) }) {
				screen, _ := terminal.Screen()
				t.Fatalf("no %q on the screen:\n%s", text, screen)
			}
		}
		send := func(text string) {
			t.Helper()
			if err := terminal.Send(text); err != nil {
				t.Fatal(err)
			}
		}
		shows("OK: remember the harbour")
		shows("accept edits on")
		if !runsClaude(cmd.Process.Pid, a) {
			t.Error("the process is not the agent's")
		}
		send("and on we go")
		shows("and on we go")
		send(string(term.Enter))
		shows("OK: and on we go")
		if q := w.WaitCall("and on we go", 0); q.Model != model {
			t.Errorf("it goes on with the model %s", q.Model)
		}
		c.expect([]string{row(id, cmd.Process.Pid, "idle")})
		want := []claudePrompt{{"remember the harbour", "acceptEdits", a.Dir()}, {"and on we go", "acceptEdits", a.Dir()}}
		if got := claudePrompts(t, w, id, 2); !slices.Equal(got, want) {
			t.Errorf("stored is %q", got)
		}
	})
}
