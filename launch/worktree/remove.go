package worktree

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// RemoveOptions say what may be removed.
type RemoveOptions struct {
	// Force also removes a worktree with changes, with commits that are on no other branch, or with submodules.
	Force bool
	// DeleteBranch also deletes the branch; without Force not one with commits that are on no other branch.
	DeleteBranch bool
	// DryRun only checks whether the removal would be refused.
	DryRun bool
	// Reasons are those against the removal that the caller knows of, such as a live session.
	Reasons []Reason
}

// ErrNoWorktree says that git lists no such worktree in this repository.
var ErrNoWorktree = errors.New("no such worktree")

// Remove removes a linked worktree that [Repo.List] returned, by git's own command. The caller checks whether a session works in
// it. A worktree that git was killed creating or removing is removed like any other. Errors: [*RefusedError], after which
// nothing was changed; [ErrNoWorktree]; those of git.
func (r *Repo) Remove(ctx context.Context, w Worktree, o RemoveOptions) error {
	held, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer held.Release()
	w, stage, err := r.checkRemovable(ctx, w.Path, o)
	if err != nil || o.DryRun {
		return err
	}
	if err := r.remove(ctx, w, stage, o.Force); err != nil {
		return err
	}
	if o.DeleteBranch && w.Branch != "" {
		return r.deleteBranch(ctx, w.Branch, o.Force)
	}
	return nil
}

// checkRemovable returns the worktree as it is now, or a [*RefusedError] with the reasons against removing it.
func (r *Repo) checkRemovable(ctx context.Context, path string, o RemoveOptions) (w Worktree, at createStage, err error) {
	all, err := r.List(ctx)
	if err != nil {
		return w, at, err
	}
	i := slices.IndexFunc(all, func(w Worktree) bool { return w.Path == path })
	if i < 0 {
		return w, at, fmt.Errorf("%w: %s", ErrNoWorktree, path)
	}
	w = all[i]
	if at, err = r.stage(ctx, w); err != nil {
		return w, at, err
	}
	reasons := slices.Concat(o.Reasons, blockingReasons(w, all))
	switch {
	case at == inProgress:
		reasons = append(reasons, Reason{ReasonCreating, "git is using it"})
	case !w.Main && !o.Force: // force overrides all of these
		losses, err := r.lossReasons(ctx, w, at, o.DeleteBranch)
		if err != nil {
			return w, at, err
		}
		reasons = append(reasons, losses...)
	}
	return w, at, refusal(w.Path, reasons)
}

func (r *Repo) remove(ctx context.Context, w Worktree, stage createStage, force bool) error {
	switch {
	case stage == interrupted:
		return r.removeIncomplete(ctx, w)
	case stage == complete && w.Locked:
		if _, err := r.git(ctx, r.common, "worktree", "unlock", w.Path); err != nil {
			return err
		}
	}
	args := []string{"worktree", "remove"}
	if force {
		if err := r.restoreGitFile(w.Path); err != nil {
			return err
		}
		args = append(args, "--force")
	}
	_, err := r.git(ctx, r.common, append(args, w.Path)...)
	return err
}

// DeleteBranch deletes a branch; without force not one with commits that are on no other branch ([*RefusedError]). If the branch
// does not exist, or is checked out, the error is that of git.
func (r *Repo) DeleteBranch(ctx context.Context, branch string, o RemoveOptions) error {
	held, err := r.lock(ctx)
	if err != nil {
		return err
	}
	defer held.Release()
	if o.DryRun {
		return r.branchLosses(ctx, branch, o.Force)
	}
	return r.deleteBranch(ctx, branch, o.Force)
}

// deleteBranch deletes a branch that no worktree has checked out, so that it gets no commit after the check.
func (r *Repo) deleteBranch(ctx context.Context, branch string, force bool) error {
	if err := r.branchLosses(ctx, branch, force); err != nil {
		return err
	}
	_, err := r.git(ctx, r.common, "branch", "-D", "--end-of-options", branch)
	return err
}

func (r *Repo) branchLosses(ctx context.Context, branch string, force bool) error {
	head, err := r.resolveCommit(ctx, r.common, "refs/heads/"+branch)
	if err != nil {
		return err
	}
	n, err := r.countUnmerged(ctx, head, branch)
	if err != nil || force {
		return err
	}
	return refusal("branch "+branch, unmergedReasons(n))
}

// Branches returns the branches of a launch group, also those that no worktree has checked out.
func (r *Repo) Branches(ctx context.Context, group string) ([]string, error) {
	out, err := r.git(ctx, r.common, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"+strings.TrimSuffix(GroupBranch(group, ""), "/"))
	return strings.Fields(out), err
}
