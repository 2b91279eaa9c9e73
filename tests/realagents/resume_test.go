package realagents

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/tests/must"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// age makes a file, or all files below a directory, look a month old.
func age(t *testing.T, path string) {
	t.Helper()
	past := time.Now().AddDate(0, 0, -31)
	if err := filepath.WalkDir(path, func(path string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(path, past, past))
	}); err != nil {
		t.Fatal(err)
	}
}

// A session that was killed in the midst of a turn continues where it was, from anywhere, with the model and the permissions that it had,
// though the user's settings say otherwise.
func TestClaudeResume(t *testing.T) {
	w, a, c := newest(t, install.ClaudeCode)
	settings := filepath.Join(w.Home, ".claude", "settings.json")
	err := errors.Join(os.MkdirAll(filepath.Dir(settings), 0o700),
		os.WriteFile(settings, []byte(`{"model":"claude-opus-4-8","permissions":{"defaultMode":"plan"}}`), 0o600))
	must.Do(t, err)
	const model = "claude-haiku-4-5"
	id := c.launched("claude-code", "--model", model, "--permissions", "edit", "-p", "the first turn") // whose answer names the model
	c.expect([]string{row(id, 0, "stopped completed")}, "-a")
	c.resumed(id, "the second turn [[hang]]")
	claudePrompts(t, w, id, 2)
	kill(t, c.status(id).PID)
	c.expect([]string{row(id, 0, "stopped interrupted")}, "-a")
	age(t, claudeTranscript(t, w, id))
	if again := c.resumed(id, "--", "--help [[hang]]"); again != id {
		t.Errorf("resume printed %s", again)
	}
	if q := w.WaitCall("--help", 0); q.Model != model {
		t.Errorf("it continues with the model %s", q.Model)
	}
	if got := rowOf(c.status(id)); !strings.HasSuffix(got, " running") {
		t.Error(got)
	}
	want := []claudePrompt{{"the first turn", "acceptEdits", a.Dir()}, {"the second turn [[hang]]", "acceptEdits", a.Dir()}, {"--help [[hang]]", "acceptEdits", a.Dir()}}
	if got := claudePrompts(t, w, id, 3); !slices.Equal(got, want) {
		t.Errorf("stored is %q", got)
	}
}

// What was killed in the middle of a turn continues with all that it had and nothing more, from anywhere.
func TestCodexResume(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	for sandbox, args := range map[string][]string{
		"danger-full-access": {"--permissions", "full"},
		"read-only":          {"--", "-s", "read-only"},
		"workspace-write":    {"--", "-s", "workspace-write", "-c", "sandbox_workspace_write.network_access=true", "--add-dir", w.Home},
	} {
		id := c.launched(append([]string{"codex", "--force", "-p", "first of " + sandbox + " [[hang]]", "--model", "gpt-5.5"}, args...)...)
		kill(t, c.status(id).PID)
		age(t, c.status(id).Path)
		for _, message := range []string{"-x\n\"all\" [[text done]]", "again [[hang]]"} {
			c.expect(nil)
			if got := c.resumed(id, "--", message); got != id {
				t.Errorf("%s: resumed %s as %s", sandbox, id, got)
			}
			if got := asked(t, w, id); got[len(got)-1] != message {
				t.Errorf("%s: asked was %q, stored is %q", sandbox, message, got)
			}
			got, more := lastSettings(t, w, id), sandbox == "workspace-write"
			if got.CWD != a.Dir() || got.Model != "gpt-5.5" || got.Sandbox.Type != sandbox || got.Sandbox.Network != more || slices.Contains(got.Sandbox.Roots, w.Home) != more {
				t.Errorf("%s: a resumed turn runs with %+v", sandbox, got)
			}
		}
		c.does("stop", id)
	}
}

// A copy continues under an ID of its own, and the session stays as it is, even while it lives.
func TestFork(t *testing.T) {
	eachAgent(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		id := c.launched(a.Agent(), "-p", "the trunk [[hang]]")
		w.WaitCall("the trunk", 0)
		prompts(t, w, a, id, 1)
		live := rowOf(c.status(id))
		fork := c.resumed(id, "--fork", "--force", "the branch [[hang]]")
		w.WaitCall("the branch", 0)
		if got := prompts(t, w, a, fork, 1); fork == id || len(got) == 0 || got[len(got)-1] != "the branch [[hang]]" {
			t.Errorf("the copy %s has %q", fork, got)
		}
		if got := prompts(t, w, a, id, 1); len(got) != 1 || rowOf(c.status(id)) != live || c.status(fork).Status != "running" {
			t.Errorf("the session has %q and is %s, the copy is %s", got, rowOf(c.status(id)), rowOf(c.status(fork)))
		}
	}, install.Copilot) // which copies sessions only in its terminal
}

// Without a message, agentctl becomes the agent's own interface on the session, which continues as it was.
func TestResumeInTerminal(t *testing.T) {
	eachAgent(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		model := map[string]string{install.ClaudeCode: "claude-haiku-4-5", install.Codex: "harbour-1", install.OpenCode: "anthropic/claude-haiku-4-5", install.Copilot: "harbour-2"}[a.Agent()]
		id := c.launched(a.Agent(), "--model", model, "--permissions", "edit", "-p", "remember the harbour")
		c.expect([]string{row(id, 0, "stopped completed")}, "-a")
		c.dir = "/"
		tui := c.inTerminal("resume", id)
		tui.waits("OK: remember the harbour")
		if !runs(tui.cmd.Process.Pid, a) {
			t.Errorf("the process is %s", commandOf(tui.cmd.Process.Pid))
		}
		c.expect([]string{row(id, tui.cmd.Process.Pid, "idle")})
		tui.submits("and on we go")
		tui.waits("OK: and on we go")
		if q := w.WaitCall("and on we go", 0); !strings.HasSuffix(model, q.Model) || !strings.Contains(string(q.Body), "remember the harbour") {
			t.Errorf("it continues with the model %s", q.Model)
		}
		c.expect([]string{row(id, tui.cmd.Process.Pid, "idle")})
		switch a.Agent() {
		case install.ClaudeCode:
			if got := claudePrompts(t, w, id, 2); len(got) != 2 || got[1] != (claudePrompt{"and on we go", "acceptEdits", a.Dir()}) {
				t.Errorf("stored is %q", got)
			}
		case install.Codex:
			if got := lastSettings(t, w, id); got.CWD != a.Dir() || got.Sandbox.Type != "workspace-write" {
				t.Errorf("it continues with %+v", got)
			}
		}
	}, install.Pi) // a terminal of Pi shows no session
}

// A session whose directory was renamed continues in the new one, with its history, and from then on without --cwd.
func TestResumeOfAMovedDirectory(t *testing.T) {
	for _, agent := range []string{install.ClaudeCode, install.Codex} {
		t.Run(agent, func(t *testing.T) {
			w, a, c := newest(t, agent)
			old := a.In(w.Dir("old"))
			moved := strings.TrimSuffix(old.Dir(), "old") + "renamed"
			w.Trust(moved)
			id := c.as(old).launched(agent, "-p", "the first turn")
			c.expect([]string{row(id, 0, "stopped completed")}, "-a")
			must.Do(t, os.Rename(old.Dir(), moved))
			c.exits(1, "resume --cwd DIR continues in the new place", "resume", id, "go on")
			if again := c.resumed(id, "--cwd", moved, "the second turn"); again != id {
				t.Errorf("resume printed %s", again)
			}
			if q := w.WaitCall("the second turn", 0); !strings.Contains(string(q.Body), "the first turn") {
				t.Error("the model does not get the history")
			}
			c.expect([]string{row(id, 0, "stopped completed")}, "-a")
			if s := c.status(id); s.CWD != moved {
				t.Errorf("it works in %s", s.CWD)
			}
			c.resumed(id, "the third turn") // the new place is known now
			if got := prompts(t, w, a, id, 3); !slices.Equal(got, []string{"the first turn", "the second turn", "the third turn"}) {
				t.Errorf("stored is %q", got)
			}
			c.expect([]string{row(id, 0, "stopped completed")}, "-a")
		})
	}
}

// OpenCode cannot continue in another directory. What the hint says instead can be done.
func TestOpenCodeResumeOfAMovedDirectory(t *testing.T) {
	w, a, c := newest(t, install.OpenCode)
	gone, moved := w.Dir("gone"), w.Dir("moved")
	a.In(gone).Run("in a directory that goes").Wait()
	id := openCodeID(t, w, "in a directory that goes")
	must.Do(t, os.RemoveAll(gone))
	c.exits(1, "the session's directory is gone: "+gone, "resume", id, "x")
	c.exits(7, "opencode export "+id, "resume", "--cwd", moved, id, "x")
	exported := filepath.Join(w.Home, "exported.json")
	must.Do(t, os.WriteFile(exported, []byte(a.In(moved).Output("export", id)), 0o600))
	a.In(moved).Output("import", exported)
	if again := c.resumed(id, "goes on [[shell pwd]]"); again != id {
		t.Errorf("it continues as %s", again)
	}
	c.expect([]string{row(id, 0, "stopped completed")}, "-a")
	if out := c.does("peek", id); c.status(id).CWD != moved || !strings.Contains(out, "in a directory that goes") || !strings.Contains(out, "done: "+moved) {
		t.Errorf("it is in %s\n%s", c.status(id).CWD, out)
	}
}
