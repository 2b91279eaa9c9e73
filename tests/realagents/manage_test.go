package realagents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
	"agentctl/tests/trace"
)

// gone fails the test unless a session is stored no more.
func (c agentctl) gone(id string) {
	c.t.Helper()
	if _, errs, code := c.run("status", id); code != 3 {
		c.t.Errorf("%s is still there: exit code %d\n%s", id, code, errs)
	}
}

// does runs a command that must succeed.
func (c agentctl) does(args ...string) string {
	c.t.Helper()
	out, errs, code := c.run(args...)
	if code != 0 {
		c.t.Errorf("%q: exit code %d\n%s%s", args, code, out, errs)
	}
	return out
}

// TestCodexRemoves: archived, unarchived and removed by Codex itself, with the sub-agent; a live thread never is.
func TestCodexRemoves(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	a.Run("above [[agent [[text below]];; text done]]", "--enable", "multi_agent").Wait()
	rows := c.list("-a", "--children")
	if len(rows) != 2 || len(c.list("-a")) != 1 {
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
	fork := codexID(t, w, "its fork")
	if _, errs, code := c.run("rm", "--yes", origin); code != 1 {
		t.Errorf("a thread that a fork goes on from: exit code %d\n%s", code, errs)
	}
	c.status(origin)
	c.does("rm", "--yes", origin, fork)
	c.gone(origin)
	c.gone(fork)

	live := a.Run("alive [[hang]]")
	w.WaitCall("alive", 0)
	lives := codexID(t, w, "alive")
	for _, verb := range []string{"rm", "archive"} {
		if _, errs, code := c.run(verb, "--yes", lives); code != 5 {
			t.Errorf("%s of a live thread: exit code %d\n%s", verb, code, errs)
		}
	}
	live.Kill()
	c.does("rm", "--yes", id, lives)
	c.gone(id)
	c.gone(lives)
	if rows = c.list("-a", "--since", "all", "--children"); len(rows) != 0 {
		t.Errorf("left: %q", rowsOf(rows))
	}
}

// TestOpenCodeRemoves: removed by OpenCode itself, with the sub-agent, while another session of the database lives.
func TestOpenCodeRemoves(t *testing.T) {
	w := world.New(t)
	a := w.OpenCode(install.OpenCodeCurrent)
	c := agentctlIn(t, w).as(a)
	const prompt = "with help [[agent [[shell true]];; text main]]"
	a.Run(prompt).Wait()
	id := idOf(t, w, a, prompt)
	live := a.Run("alive [[hang]]")
	w.WaitCall("alive", 0)
	lives := idOf(t, w, a, "alive [[hang]]")
	if _, errs, code := c.run("rm", "--yes", lives); code != 5 {
		t.Errorf("a live session: exit code %d\n%s", code, errs)
	}
	c.does("rm", "--yes", id)
	c.gone(id)
	for _, s := range c.list("-a", "--since", "all", "--children") {
		if s.ParentID == id {
			t.Errorf("its sub-agent is left: %s", rowOf(s))
		}
	}
	if s := c.status(lives); s.Status != "running" {
		t.Errorf("the other session is %s", s.Status)
	}
	live.Kill()
	c.does("rm", "--older-than", "1ms", "--yes")
	c.gone(lives)
}

// TestRemovingWritesNothing: whatever is removed or archived, the agent's command does it. With a command that does nothing, no system
// call changes anything, and the kernel lock of the session's directory is the only one.
func TestRemovingWritesNothing(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	a.Run("keep this").Wait()
	id := codexID(t, w, "keep this")
	bin := t.TempDir()
	stub := filepath.Join(bin, "codex")
	if err := os.WriteFile(stub, []byte("#!/bin/sh\necho \"Usage: codex $1 [OPTIONS] <SESSION>\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"rm", "archive"} {
		cmd := exec.Command(os.Getenv(binary), verb, "--yes", id)
		var errs strings.Builder
		cmd.Env, cmd.Stdout, cmd.Stderr = []string{"HOME=" + w.Home, "PATH=" + bin + ":/usr/bin:/bin"}, &strings.Builder{}, &errs
		result, err := trace.Run(cmd)
		if err != nil {
			t.Fatal(err)
		}
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
