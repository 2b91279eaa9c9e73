package cli

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/proc"
)

// gitEnv is the made-up world in a repository with the worktree "wt" on branch "fix" below it. Its sessions are
// elsewhere.
func gitEnv(t *testing.T) (Env, *captured) {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(dir)
	env, out := testEnv(t)
	env.Environ = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "GIT_CONFIG_NOSYSTEM=1"}
	for _, args := range []string{
		"init -q", "-c user.name=a -c user.email=a@example.com commit -q --allow-empty -m one", "worktree add -q wt -b fix",
	} {
		cmd := exec.Command("git", strings.Fields(args)...)
		cmd.Env = env.Environ
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v\n%s", args, err, text)
		}
	}
	return env, out
}

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
			env, out := gitEnv(t)
			want := exitOK
			if strings.Contains(args, " .") {
				want = exitConflict
			}
			if got := Run(t.Context(), env, strings.Fields(args)...); got != want {
				t.Errorf("exit %d, %s", got, out.stderr.String())
			}
			valid(t, part, out.stdout.String())
			if want != exitOK {
				valid(t, "error", out.stderr.String())
			}
		})
	}
}

// If the process table cannot be read, nobody knows who lives there, and nothing is removed.
func TestWorktreeCleanBlind(t *testing.T) {
	env, out := gitEnv(t)
	env.Take = func(context.Context) (*proc.Table, error) { return nil, errors.New("no /proc") }
	if got := Run(t.Context(), env, "worktree", "clean", "fix", "--force"); got != exitFailed || !strings.Contains(out.stderr.String(), "whether it is in use is not known: processes: no /proc") {
		t.Errorf("exit %d, %s", got, out.stderr.String())
	}
	if _, err := os.Lstat("wt"); err != nil {
		t.Error("it is gone")
	}
}

// What could not be read is named, when all is done.
func TestWorktreePartial(t *testing.T) {
	env, out := gitEnv(t)
	for _, args := range []string{"worktree list", "worktree clean fix"} {
		out.stderr.Reset()
		if got := Run(t.Context(), broken(env), strings.Fields(args)...); got != exitPartial || out.stdout.Len() == 0 {
			t.Errorf("%s: exit %d, %s", args, got, out.stderr.String())
		}
	}
	if _, err := os.Lstat("wt"); err == nil {
		t.Error("it is still there")
	}
}

func TestWorktreeInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	env, _ := gitEnv(t)
	for _, args := range []string{"worktree list", "worktree clean fix"} {
		if got := Run(ctx, env, strings.Fields(args)...); got != exitInterrupted {
			t.Errorf("%s: exit %d", args, got)
		}
	}
}

func TestCompleteWorktrees(t *testing.T) {
	env, out := gitEnv(t)
	if Run(t.Context(), env, "__complete", "zsh", "worktree", "clean", ""); !strings.HasPrefix(out.stdout.String(), "fix\x00") || strings.Count(out.stdout.String(), "\x00") != 2 {
		t.Errorf("%q", out.stdout.String())
	}
}
