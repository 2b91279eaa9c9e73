package cli

import (
	"context"
	"errors"
	"os"
	"strings"
	"testing"

	"agentctl/proc"
)

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
