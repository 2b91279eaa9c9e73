package realagents

import (
	"os"
	"slices"
	"strings"
	"testing"

	"agentctl/tests/realagents/world"
)

// TestClaudeResumeMoved: a session whose directory was renamed goes on in the new one, with its history, and from then on without
// --cwd.
func TestClaudeResumeMoved(t *testing.T) {
	eachClaude(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		old := a.In(w.Dir("old"))
		moved := strings.TrimSuffix(old.Dir(), "old") + "renamed"
		w.Trust(moved)
		id := agentctlIn(t, w).as(old).launched("claude-code", "-p", "the first turn")
		c.expect([]string{row(id, 0, "stopped completed")}, "-a")
		if err := os.Rename(old.Dir(), moved); err != nil {
			t.Fatal(err)
		}
		if _, errs, code := c.run("resume", id, "go on"); code != 1 || !strings.Contains(errs, "resume --cwd DIR continues in the new place") {
			t.Errorf("exit code %d, %s", code, errs)
		}
		path := claudeTranscript(t, w, id)
		if again := c.resumed(id, "--cwd", moved, "the second turn [[text here]]"); again != id {
			t.Errorf("resume printed %s", again)
		}
		q := w.WaitCall("the second turn", 0)
		if !strings.Contains(string(q.Body), "the first turn") {
			t.Error("the model does not get the history")
		}
		c.expect([]string{row(id, 0, "stopped completed")}, "-a")
		if s := c.status(id); s.CWD != moved {
			t.Errorf("it works in %s", s.CWD)
		}
		c.resumed(id, "the third turn") // the new place is known now
		want := []string{old.Dir(), moved, moved}
		var dirs []string
		for _, p := range claudePrompts(t, w, id, 3) {
			dirs = append(dirs, p.Dir)
		}
		if !slices.Equal(dirs, want) {
			t.Errorf("the turns are in %q, want %q", dirs, want)
		}
		c.expect([]string{row(id, 0, "stopped completed")}, "-a")
		before, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		fork := c.resumed(id, "--fork", "--cwd", moved, "the branch")
		if q := w.WaitCall("the branch", 0); !strings.Contains(string(q.Body), "the first turn") {
			t.Error("the copy has no history")
		}
		prompts := claudePrompts(t, w, fork, 2)
		if last := prompts[len(prompts)-1]; fork == id || last.Text != "the branch" || last.Dir != moved {
			t.Errorf("the copy %s has %q", fork, prompts)
		}
		if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
			t.Errorf("the session has changed: %v", err)
		}
	})
}
