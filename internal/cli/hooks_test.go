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
	commit := func(take func(context.Context) (*proc.Table, error)) (stderr, text string) {
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
		stderr, text := commit(func(context.Context) (*proc.Table, error) { return nil, err })
		if text != "words\n" || !strings.Contains(stderr, "warning: the commit is not named after a session: ") ||
			!strings.Contains(stderr, err.Error()+"; git continues") {
			t.Errorf("%v: the message is %q, stderr %q", err, text, stderr)
		}
	}
	f, _ := testEnv(t)
	stderr, text := commit(func(ctx context.Context) (*proc.Table, error) {
		if end, ok := ctx.Deadline(); !ok || time.Until(end) < TrailerTimeout/2 {
			t.Errorf("the time for it ends at %s", end)
		}
		return f.ReadTable(ctx)
	})
	if text != "words\n\nAgent-Session: codex/aaaaaaaa-1\n" || stderr != "" {
		t.Errorf("the message is %q, stderr %q", text, stderr)
	}
}
