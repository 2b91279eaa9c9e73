package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
)

// The trailer of a commit is left out only with a warning, and not because the machine is busy.
func TestMissingTrailerIsReported(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if out, err := exec.Command("git", "init", "-q", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	message := filepath.Join(dir, "message")
	must.Do(t, os.WriteFile(message, []byte("words\n"), 0o600))
	commit := func(take func(context.Context, bool) (*proc.Table, error)) (stderr, text string) {
		t.Helper()
		f, out := testEnv(t)
		f.Environ, f.ReadTable = os.Environ(), take
		if code := Run(t.Context(), f, "hooks", "run", "prepare-commit-msg", message, "message"); code != ExitOK {
			t.Errorf("exit %d: the commit fails", code)
		}
		raw, err := os.ReadFile(message)
		must.Do(t, err)
		return out.Stderr.String(), string(raw)
	}
	for _, err := range []error{errors.New("no /proc here"), context.DeadlineExceeded} {
		stderr, text := commit(func(context.Context, bool) (*proc.Table, error) { return nil, err })
		if text != "words\n" || !strings.Contains(stderr, "warning: the commit is not named after a session: ") ||
			!strings.Contains(stderr, err.Error()+"; git continues") {
			t.Errorf("%v: the message is %q, stderr %q", err, text, stderr)
		}
	}
	f, _ := testEnv(t)
	stderr, text := commit(func(ctx context.Context, _ bool) (*proc.Table, error) {
		if end, ok := ctx.Deadline(); !ok || time.Until(end) < TrailerTimeout/2 {
			t.Errorf("the time for it ends at %s", end)
		}
		return f.ReadTable(ctx, false)
	})
	if text != "words\n\nAgent-Session: codex/aaaaaaaa-1\n" || stderr != "" {
		t.Errorf("the message is %q, stderr %q", text, stderr)
	}
}

// A guard that cannot see lets nothing pass, and says why; one that misses a part of the stores does.
func TestGuardFailsClosed(t *testing.T) {
	t.Chdir(t.TempDir())
	f, out := testEnv(t)
	if got := Run(t.Context(), f, "guard"); got != ExitOK {
		t.Fatalf("exit %d, %s", got, out.Stderr.String())
	}
	f.ReadTable = func(context.Context, bool) (*proc.Table, error) { return nil, errors.New("no /proc here") }
	if got := Run(t.Context(), f, "guard"); got != ExitPartial || !strings.Contains(out.Stderr.String(), "no /proc here") {
		t.Errorf("blind: exit %d, %s", got, out.Stderr.String())
	}
	f, out = testEnv(t)
	if got := Run(t.Context(), Broken(f), "guard"); got != ExitOK {
		t.Errorf("a store that is broken: exit %d, %s", got, out.Stderr.String())
	}
}

// A session is never in its own way, whichever of its sub-agents calls; another thread of the same process is.
func TestGuardInASharedProcess(t *testing.T) {
	const open, done = discover.TurnOpen, discover.TurnDone
	for name, tc := range map[string]struct {
		states map[string]discover.TurnState
		where  string
		mark   string
		says   string // "" for exit 0 and silence
	}{
		"itself":                   {map[string]discover.TurnState{"boss": open}, "inside", "boss", ""},
		"without a mark":           {map[string]discover.TurnState{"boss": open}, "inside", "", ""},
		"its sub-agent":            {map[string]discover.TurnState{"boss": open, "hand": open}, "inside", "boss", ""},
		"its sub-agent alone":      {map[string]discover.TurnState{"boss": done, "hand": open}, "inside", "boss", ""},
		"who it works for":         {map[string]discover.TurnState{"boss": open, "hand": open}, "inside", "hand", ""},
		"who that one works for":   {map[string]discover.TurnState{"boss": open, "hand": open, "finger": open}, "inside", "finger", ""},
		"another thread":           {map[string]discover.TurnState{"boss": open, "other": open}, "inside", "boss", "error: codex other (pid 10, since"},
		"another one of a hand's":  {map[string]discover.TurnState{"boss": open, "hand": open, "other": open}, "inside", "hand", "error: codex other (pid"},
		"another one, idle":        {map[string]discover.TurnState{"boss": open, "other": done}, "inside", "boss", "warning: codex other"},
		"a nested agent":           {map[string]discover.TurnState{"boss": open}, "nested", "boss", ""},
		"from outside":             {map[string]discover.TurnState{"boss": open, "hand": open}, "outside", "", "error: codex boss (pid 10"},
		"a mark from elsewhere":    {map[string]discover.TurnState{"boss": open}, "outside", "boss", "error: codex boss (pid 10"},
		"a sub-agent at work":      {map[string]discover.TurnState{"boss": done, "hand": open}, "outside", "", "error: codex hand (pid 10"},
		"all idle, the boss tells": {map[string]discover.TurnState{"boss": done, "hand": done}, "outside", "", "warning: codex boss"},
	} {
		t.Run(name, func(t *testing.T) {
			f, out := SharedProcess(t, tc.states, tc.where)
			want := ExitOK
			if strings.HasPrefix(tc.says, "error") {
				want = ExitConflict
			}
			exit := Run(t.Context(), Setenv(f, "THREAD", tc.mark), "guard")
			said := out.Stderr.String()
			if exit != want || strings.Contains(said, "more") || tc.says == "" && said != "" ||
				!strings.Contains(said, tc.says) || strings.Count(said, "agentctl: error") > 1 {
				t.Errorf("exit %d, want %d and %q:\n%s", exit, want, tc.says, said)
			}
		})
	}
}

// If the process table cannot be read, nobody knows who lives there, and nothing is removed.
func TestCleanWithoutProcessTable(t *testing.T) {
	f, out := InRepository(t)
	f.ReadTable = func(context.Context, bool) (*proc.Table, error) { return nil, errors.New("no /proc") }
	if got := Run(t.Context(), f, "worktree", "clean", "fix", "--force"); got != ExitFailed || !strings.Contains(out.Stderr.String(), "whether it is in use is not known: processes: no /proc") {
		t.Errorf("exit %d, %s", got, out.Stderr.String())
	}
	if _, err := os.Lstat("wt"); err != nil {
		t.Error("it is gone")
	}
}

// What could not be read is named, when all is done.
func TestWorktreePartial(t *testing.T) {
	f, out := InRepository(t)
	for _, args := range []string{"worktree list", "worktree clean fix"} {
		out.Stderr.Reset()
		if got := Run(t.Context(), Broken(f), strings.Fields(args)...); got != ExitPartial || out.Stdout.Len() == 0 {
			t.Errorf("%s: exit %d, %s", args, got, out.Stderr.String())
		}
	}
	if _, err := os.Lstat("wt"); err == nil {
		t.Error("it is still there")
	}
}
