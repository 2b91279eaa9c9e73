package realagents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/must"
	"agentctl/tests/realagents/install"
	"agentctl/tests/trace"
)

// Archived, unarchived and removed by Codex itself, with the sub-agent; a live thread never is.
func TestCodexRemoves(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	a.Run("above [[agent [[text below]];; text done]]", "--enable", "multi_agent").Wait()
	if rows := c.list("-a", "--children"); len(rows) != 2 || len(c.list("-a")) != 1 {
		t.Fatalf("%q, want a thread and its sub-agent", rowsOf(rows))
	}
	id := *c.list("-a")[0].ID
	c.does("archive", "--yes", id)
	if s := c.status(id); !strings.Contains(s.Path, "archived_sessions") {
		t.Errorf("archived in %s", s.Path)
	}
	c.does("unarchive", "--yes", id)
	if s := c.status(id); strings.Contains(s.Path, "archived_sessions") {
		t.Errorf("unarchived to %s", s.Path)
	}
	a.Run("the origin").Wait()
	origin := codexID(t, w, "the origin")
	a.Run("", "fork", origin, "its fork [[text forked]]").Wait()
	c.exits(1, "", "rm", "--yes", origin) // a fork continues it
	c.status(origin)
	c.does("rm", "--yes", origin, codexID(t, w, "its fork"))

	live := a.Run("alive [[hang]]")
	w.WaitCall("alive", 0)
	lives := codexID(t, w, "alive")
	c.exits(5, "", "rm", "--yes", lives)
	c.exits(5, "", "archive", "--yes", lives)
	live.Kill()
	c.does("rm", "--yes", id, lives)
	c.expect(nil, "-a", "--since", "all", "--children")
}

// Removed by OpenCode itself, with the sub-agent, while another session of the database lives.
func TestOpenCodeRemoves(t *testing.T) {
	w, a, c := newest(t, install.OpenCode)
	const prompt = "with help [[agent [[shell true]];; text main]]"
	a.Run(prompt).Wait()
	live := a.Run("alive [[hang]]")
	w.WaitCall("alive", 0)
	lives := openCodeID(t, w, "alive [[hang]]")
	c.exits(5, "", "rm", "--yes", lives)
	c.does("rm", "--yes", openCodeID(t, w, prompt))
	c.expect([]string{row(lives, live.PID(), "running")}, "-a", "--since", "all", "--children")
	live.Kill()
	c.does("rm", "--older-than", "1ms", "--yes")
	c.expect(nil, "-a", "--since", "all")
}

// TestRemovingWritesNothing: whatever is removed or archived, the agent's command does it. With a command that does nothing, no system
// call changes anything, and the kernel lock of the session's directory is the only one.
func TestRemovingWritesNothing(t *testing.T) {
	w, a, _ := newest(t, install.Codex)
	a.Run("keep this").Wait()
	id := codexID(t, w, "keep this")
	bin := t.TempDir()
	stub := filepath.Join(bin, "codex")
	must.Do(t, os.WriteFile(stub, []byte("#!/bin/sh\necho \"Usage: codex $1 [OPTIONS] <SESSION>\"\n"), 0o755))
	for _, verb := range []string{"rm", "archive"} {
		cmd := exec.Command(os.Getenv(binary), verb, "--yes", id)
		var errs strings.Builder
		cmd.Env, cmd.Stdout, cmd.Stderr = []string{"HOME=" + w.Home, "PATH=" + bin + ":/usr/bin:/bin"}, &strings.Builder{}, &errs
		result, err := trace.Run(cmd)
		must.Do(t, err)
		if result.Exit != 1 || !strings.Contains(errs.String(), "has changed nothing") {
			t.Errorf("%s: exit code %d\n%s", verb, result.Exit, errs.String())
		}
		locked := 0
		for _, call := range result.Changes("/") {
			if call.Name == "flock" && call.Path == a.Dir() {
				locked++
				continue
			}
			t.Errorf("%s: %s %s of %s (%d)", verb, call.Name, call.Effect, call.Path, call.Ret)
		}
		if locked == 0 {
			t.Errorf("%s: the session's directory was not locked", verb)
		}
	}
}
