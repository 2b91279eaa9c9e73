package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// add runs git to create the worktree, and undoes what git has done if that fails.
func (r *Repo) add(ctx context.Context, want CreateOptions, newBranch bool, base string) (CreateResult, error) {
	args := []string{"worktree", "add", want.Dir, want.Branch}
	if newBranch {
		args = []string{"worktree", "add", "-b", want.Branch, want.Dir, base}
	}
	above := missingDirs(filepath.Dir(want.Dir))
	_, err := r.git(ctx, r.common, args...)
	if err != nil {
		undone := r.undoAdd(context.WithoutCancel(ctx), want, err)
		if newBranch {
			undone = errors.Join(undone, r.undoBranch(context.WithoutCancel(ctx), want.Branch, base))
		}
		for _, dir := range above {
			_ = os.Remove(dir) // fails if another process has put a file there
		}
		return CreateResult{}, errors.Join(err, undone)
	}
	list, err := r.List(ctx)
	for _, w := range list {
		if w.Path == want.Dir {
			return CreateResult{w, true, newBranch}, err
		}
	}
	return CreateResult{}, errors.Join(err, ErrNoWorktree)
}

// missingDirs returns the directories that do not exist on the way to dir, dir first.
func missingDirs(dir string) []string {
	var out []string
	for ; !exists(dir); dir = filepath.Dir(dir) {
		out = append(out, dir)
	}
	return out
}

// undoAdd removes the worktree that git leaves when a hook fails or git is killed. If git itself gives up (exit status 128), it
// has removed what it created; what exists then was created by others.
func (r *Repo) undoAdd(ctx context.Context, want CreateOptions, failed error) error {
	if exit, ok := errors.AsType[*exec.ExitError](failed); ok && exit.ExitCode() == 128 {
		return nil
	}
	list, err := r.List(ctx)
	for _, w := range list {
		if w.Path == want.Dir && !w.Main {
			err = errors.Join(err, r.removeIncomplete(ctx, w))
		}
	}
	if exists(want.Dir) && !isEmptyDir(want.Dir) {
		err = errors.Join(err, fmt.Errorf("%s is left behind", want.Dir))
	}
	return err
}

// undoBranch deletes the branch that was created, if it has no new commit.
func (r *Repo) undoBranch(ctx context.Context, branch, base string) error {
	head, err := r.resolveCommit(ctx, r.common, "refs/heads/"+branch)
	if errors.Is(err, ErrNoCommit) || err == nil && head != base {
		return nil
	}
	if err == nil {
		_, err = r.git(ctx, r.common, "branch", "-D", "--end-of-options", branch)
	}
	return err
}
