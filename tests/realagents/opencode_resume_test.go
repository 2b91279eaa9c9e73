package realagents

import (
	"context"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// TestOpenCodeGoesOn with a session that was killed mid-turn and not touched for a month, from another directory: as the
// same session, with the model and in the mode of work that it had; once at a time, or as a copy.
func TestOpenCodeGoesOn(t *testing.T) {
	eachOpenCode(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		id := startedBy(t, c, "launch", "opencode", "--name", "-A name", "--model", "anthropic/claude-haiku-4-5",
			"-p", "at first [[hang]]", "--", "--agent", "plan")
		before := c.status(id)
		if before.Title != "-A name" {
			t.Errorf("the title is %q", before.Title)
		}
		if err := syscall.Kill(before.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		c.expect(nil)
		age(t, w.OpenCodeHome())

		c.dir = w.Dir("elsewhere")
		if again := startedBy(t, c, "resume", id, "--", "--help"); again != id {
			t.Errorf("it goes on as %s, not as %s", again, id)
		}
		if !poll(func() bool { return c.status(id).Status == "stopped" }) {
			t.Fatal("the turn does not end")
		}
		want := userMessage{asStored(a.Version, "--help"), "plan", "anthropic/claude-haiku-4-5"}
		got := userMessages(t, w, id)
		if len(got) != 2 || got[1] != want {
			t.Errorf("its messages are %+v, the second was %+v", got, want)
		}
		after := c.status(id)
		if after.Outcome != "completed" || after.CWD != before.CWD || after.Title != before.Title {
			t.Errorf("afterwards it is %+v", after)
		}
		onceAtATime(t, w, a, c, id)
	})
}

// age makes all files below a folder look a month old.
func age(t *testing.T, dir string) {
	t.Helper()
	past := time.Now().AddDate(0, 0, -30)
	if err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return os.Chtimes(path, past, past)
	}); err != nil {
		t.Fatal(err)
	}
}

// onceAtATime: of two that go on with a session at once one wins, and while it lives nobody else does; a copy may.
func onceAtATime(t *testing.T, w *world.World, a world.Agent, c agentctl, id string) {
	t.Helper()
	var all sync.WaitGroup
	codes := make([]int, 2)
	for i := range codes {
		all.Go(func() { _, _, codes[i] = c.run("resume", "--timeout", "5m", id, "--", "-x two at once [[hang]]") })
	}
	all.Wait()
	if slices.Sort(codes); !slices.Equal(codes, []int{0, 5}) {
		t.Errorf("two at once: exit codes %d", codes)
	}
	if n := len(userMessages(t, w, id)); n != 3 {
		t.Errorf("%d messages, not 3", n)
	}
	if _, errs, code := c.run("resume", id, "x"); code != 5 || !strings.Contains(errs, "is live") {
		t.Errorf("of a live session: exit code %d\n%s", code, errs)
	}
	fork := startedBy(t, c, "resume", "--fork", "--force", id, "a copy [[hang]]")
	got := userMessages(t, w, fork)
	if fork == id || len(got) != 4 || got[3].text != asStored(a.Version, "a copy [[hang]]") {
		t.Errorf("the copy of %s is %s, its messages %+v", id, fork, got)
	}
	c.expect([]string{row(id, c.status(id).PID, "running"), row(fork, c.status(fork).PID, "running")})
}

// TestOpenCodeDoesNotGoOn with what is not there.
func TestOpenCodeDoesNotGoOn(t *testing.T) {
	w := world.New(t)
	current := w.OpenCode(install.OpenCodeCurrent)
	c := agentctlIn(t, w).as(current)
	if _, errs, code := c.run("resume", "ses_00000000000000000000000000", "x"); code != 3 {
		t.Errorf("of an unknown session: exit code %d\n%s", code, errs)
	}
	gone := w.Dir("gone")
	current.In(gone).Run("in a directory that goes").Wait()
	id := openCodeID(t, w, "in a directory that goes")
	if err := os.RemoveAll(gone); err != nil {
		t.Fatal(err)
	}
	if _, errs, code := c.run("resume", id, "x"); code != 1 || !strings.Contains(errs, "the session's directory is gone: "+gone) {
		t.Errorf("of a vanished directory: exit code %d\n%s", code, errs)
	}
	moved := w.Dir("moved")
	if _, errs, code := c.run("resume", "--cwd", moved, id, "x"); code != 7 || !strings.Contains(errs, "opencode export "+id) {
		t.Errorf("in another directory: exit code %d\n%s", code, errs)
	}
	exported := filepath.Join(w.Home, "exported.json") // as the hint says
	if err := os.WriteFile(exported, []byte(current.In(moved).Output("export", id)), 0o600); err != nil {
		t.Fatal(err)
	}
	current.In(moved).Output("import", exported)
	if again := startedBy(t, c, "resume", id, "goes on [[shell pwd]]"); again != id {
		t.Errorf("it goes on as %s", again)
	}
	if !poll(func() bool { return c.status(id).Status == "stopped" }) {
		t.Error("the turn does not end")
	}
	if out, _, _ := c.run("peek", id); c.status(id).CWD != moved || !strings.Contains(out, "in a directory that goes") || !strings.Contains(out, "done: "+moved) {
		t.Errorf("it is in %s\n%s", c.status(id).CWD, out)
	}
}

// TestOpenCodeGoesOnInATerminal: without a message agentctl becomes the agent's own interface on that session.
func TestOpenCodeGoesOnInATerminal(t *testing.T) {
	eachOpenCode(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		a.Run("a headless run").Wait()
		id := idOf(t, w, a, "a headless run")
		cmd := exec.Command(os.Getenv(binary), "resume", id)
		cmd.Dir, cmd.Env = w.Dir("elsewhere"), c.env
		terminal, err := term.Start(cmd)
		if err != nil {
			t.Fatal(err)
		}
		defer terminal.Close()
		c.expect([]string{row(id, cmd.Process.Pid, "idle")})
		limited, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := terminal.WaitFor(limited, "OK: a headless run"); err != nil {
			screen, _ := terminal.Screen()
			t.Errorf("the screen does not show the session: %v\n%s", err, screen)
		}
	})
}
