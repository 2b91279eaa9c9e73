package cli

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"agentctl/proc"
)

func TestWorktreeOutputFollowsSchema(t *testing.T) {
	for args, part := range map[string]string{
		"worktree list --json":                             "worktrees",
		"worktree clean fix --json --dry-run":              "cleaned",
		"worktree clean fix --json":                        "cleaned",
		"worktree clean wt --json --delete-branch":         "cleaned",
		"worktree clean --json .":                          "cleaned",
		"worktree clean fix --repo wt --json --dry-run":    "cleaned",
		"worktree clean fix wt . --json --force --dry-run": "cleaned",
	} {
		t.Run(args, func(t *testing.T) {
			f, out := InRepository(t)
			want := ExitOK
			if strings.Contains(args, " .") {
				want = ExitConflict
			}
			if got := Run(t.Context(), f, strings.Fields(args)...); got != want {
				t.Errorf("exit %d, %s", got, out.Stderr.String())
			}
			CheckSchema(t, part, out.Stdout.String())
			if want != ExitOK {
				CheckSchema(t, "error", out.Stderr.String())
			}
		})
	}
}

// If the process table cannot be read, nobody knows who lives there, and nothing is removed.
func TestCleanWithoutProcessTable(t *testing.T) {
	f, out := InRepository(t)
	f.ReadTable = func(context.Context) (*proc.Table, error) { return nil, errors.New("no /proc") }
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

func TestWorktreeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	f, _ := InRepository(t)
	for _, args := range []string{"worktree list", "worktree clean fix"} {
		if got := Run(ctx, f, strings.Fields(args)...); got != ExitInterrupted {
			t.Errorf("%s: exit %d", args, got)
		}
	}
}
