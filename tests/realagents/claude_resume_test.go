package realagents

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// resumed goes on with a session from a directory that is not its own.
func (c agentctl) resumed(args ...string) string {
	c.t.Helper()
	c.dir = c.t.TempDir()
	return c.printed(append([]string{"resume"}, args...)...)
}

// TestClaudeResume: a session that was killed in the midst of a turn goes on where it was, from anywhere, with the
// model and the permissions that it had, though the user's settings say otherwise.
func TestClaudeResume(t *testing.T) {
	eachClaude(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		settings := `{"model":"claude-opus-4-8","permissions":{"defaultMode":"plan"}}`
		err := os.MkdirAll(filepath.Join(w.Home, ".claude"), 0o700)
		if err == nil {
			err = os.WriteFile(filepath.Join(w.Home, ".claude", "settings.json"), []byte(settings), 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
		const model = "claude-haiku-4-5"
		id := c.launched("claude-code", "--model", model, "--permissions", "edit", "-p", "the first turn")
		c.expect([]string{row(id, 0, "stopped completed")}, "-a")

		c.resumed(id, "the second turn [[hang]]")
		w.WaitCall("the second turn", 0)
		s := c.status(id)
		fileWith(t, stores(w, install.ClaudeCode), "", `"content":"the second turn`) // it may ask before it writes
		if out, errs, code := c.run("resume", id, "the turn between"); code != 5 || out != "" {
			t.Errorf("resume of a live session: exit code %d, %s%s", code, out, errs)
		}
		kill(t, s.PID)
		c.expect([]string{row(id, 0, "stopped interrupted")}, "-a")

		old := time.Now().AddDate(0, 0, -31)
		if err := os.Chtimes(claudeTranscript(t, w, id), old, old); err != nil {
			t.Fatal(err)
		}
		if again := c.resumed(id, "--", "--help [[hang]]"); again != id {
			t.Errorf("resume printed %s", again)
		}
		if q := w.WaitCall("--help", 0); q.Model != model {
			t.Errorf("it goes on with the model %s", q.Model)
		}
		if got := rowOf(c.status(id)); !strings.HasSuffix(got, " running") {
			t.Error(got)
		}
		prompts := claudePrompts(t, w, id, 3)
		want := []claudePrompt{
			{"the first turn", "acceptEdits", a.Dir()}, {"the second turn [[hang]]", "acceptEdits", a.Dir()}, {"--help [[hang]]", "acceptEdits", a.Dir()},
		}
		if !slices.Equal(prompts, want) {
			t.Errorf("stored is %q", prompts)
		}
	})
}

// kill ends a process at once and returns when it is gone.
func kill(t *testing.T, pid int) {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Kill()
	}
	if err != nil || !poll(func() bool { return !living(pid) }) {
		t.Fatalf("killing %d: %v", pid, err)
	}
}

// TestClaudeFork: the copy goes on under an ID of its own, and the session stays as it is, even while it lives.
func TestClaudeFork(t *testing.T) {
	eachClaude(t, func(t *testing.T, w *world.World, _ world.Agent, c agentctl) {
		id := c.launched("claude-code", "-p", "the trunk [[hang]]")
		w.WaitCall("the trunk", 0)
		claudePrompts(t, w, id, 1)
		live := rowOf(c.status(id))
		fork := c.resumed(id, "--fork", "--force", "the branch [[hang]]")
		w.WaitCall("the branch", 0)
		if got := claudePrompts(t, w, fork, 2); fork == id || len(got) == 0 || got[len(got)-1].Text != "the branch [[hang]]" {
			t.Errorf("the copy %s has %q", fork, got)
		}
		if got := claudePrompts(t, w, id, 1); len(got) != 1 || rowOf(c.status(id)) != live {
			t.Errorf("the session has %q and is %s", got, rowOf(c.status(id)))
		}
		if s := c.status(fork); s.Status != "running" {
			t.Errorf("the copy is %s", rowOf(s))
		}
	})
}

// TestClaudeResumedElsewhere: one that was resumed from another directory by a release that allows it goes on in the
// directory that its project folder is that of, with any release.
func TestClaudeResumedElsewhere(t *testing.T) {
	w := world.New(t)
	current, main := w.Claude(install.ClaudeCurrent), w.Claude(install.ClaudeMain)
	c := agentctlIn(t, w).as(current)
	id := c.launched("claude-code", "-p", "at home")
	c.expect([]string{row(id, 0, "stopped completed")}, "-a")
	current.In(w.Dir("elsewhere")).Run("elsewhere", "--resume", id).Wait()
	if got := c.status(id).CWD; got != w.Dir("elsewhere") {
		t.Fatalf("the newest directory is %s", got)
	}
	agentctlIn(t, w).as(main).resumed(id, "home again")
	w.WaitCall("home again", 0)
	if got := claudePrompts(t, w, id, 3); len(got) != 3 || got[2] != (claudePrompt{"home again", "default", current.Dir()}) {
		t.Errorf("stored is %q", got)
	}
}
