package worktree_test

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"agentctl/internal/cmd"
	"agentctl/internal/cmdutil"
	"agentctl/proc"
	"agentctl/tests/cmdtest"
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
			f, out := cmdtest.InRepository(t)
			want := cmdutil.ExitOK
			if strings.Contains(args, " .") {
				want = cmdutil.ExitConflict
			}
			if got := cmd.Run(t.Context(), f, strings.Fields(args)...); got != want {
				t.Errorf("exit %d, %s", got, out.Stderr.String())
			}
			cmdtest.CheckSchema(t, part, out.Stdout.String())
			if want != cmdutil.ExitOK {
				cmdtest.CheckSchema(t, "error", out.Stderr.String())
			}
		})
	}
}

// If the process table cannot be read, nobody knows who lives there, and nothing is removed.
func TestCleanWithoutProcessTable(t *testing.T) {
	f, out := cmdtest.InRepository(t)
	f.ReadTable = func(context.Context) (*proc.Table, error) { return nil, errors.New("no /proc") }
	if got := cmd.Run(t.Context(), f, "worktree", "clean", "fix", "--force"); got != cmdutil.ExitFailed || !strings.Contains(out.Stderr.String(), "whether it is in use is not known: processes: no /proc") {
		t.Errorf("exit %d, %s", got, out.Stderr.String())
	}
	if _, err := os.Lstat("wt"); err != nil {
		t.Error("it is gone")
	}
}

// What could not be read is named, when all is done.
func TestWorktreePartial(t *testing.T) {
	f, out := cmdtest.InRepository(t)
	for _, args := range []string{"worktree list", "worktree clean fix"} {
		out.Stderr.Reset()
		if got := cmd.Run(t.Context(), cmdtest.Broken(f), strings.Fields(args)...); got != cmdutil.ExitPartial || out.Stdout.Len() == 0 {
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
	f, _ := cmdtest.InRepository(t)
	for _, args := range []string{"worktree list", "worktree clean fix"} {
		if got := cmd.Run(ctx, f, strings.Fields(args)...); got != cmdutil.ExitInterrupted {
			t.Errorf("%s: exit %d", args, got)
		}
	}
}
