package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
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
		return r.deleteBranch(ctx, w.Branch, o)
	}
	return nil
}

// checkRemovable returns the worktree as it is now, or a [*RefusedError] with the reasons against removing it.
func (r *Repo) checkRemovable(ctx context.Context, path string, o RemoveOptions) (w Worktree, at createStage, err error) {
	all, err := r.List(ctx)
	if err != nil {
		return w, at, err
	}
	w, ok := find(all, func(w Worktree) bool { return w.Path == path })
	if !ok {
		return w, at, fmt.Errorf("%w: %s", ErrNoWorktree, path)
	}
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
	return r.deleteBranch(ctx, branch, o)
}

// deleteBranch deletes a branch that no worktree has checked out, so that it gets no commit after the check.
func (r *Repo) deleteBranch(ctx context.Context, branch string, o RemoveOptions) error {
	head, err := r.resolveCommit(ctx, r.common, "refs/heads/"+branch)
	if err != nil {
		return err
	}
	if !o.Force {
		reasons, err := r.unmergedReasons(ctx, head, branch)
		if err == nil {
			err = refusal("branch "+branch, reasons)
		}
		if err != nil {
			return err
		}
	}
	if o.DryRun {
		return nil
	}
	_, err = r.git(ctx, r.common, "branch", "-D", "--end-of-options", branch)
	return err
}

// Branches returns the branches of a launch group, also those that no worktree has checked out.
func (r *Repo) Branches(ctx context.Context, group string) ([]string, error) {
	out, err := r.git(ctx, r.common, "for-each-ref", "--format=%(refname:lstrip=2)", "refs/heads/"+strings.TrimSuffix(GroupBranch(group, ""), "/"))
	return strings.Fields(out), err
}

// ReasonCode is the kind of a reason.
type ReasonCode string

// Why a worktree is not removed. Force overrides those marked "forced".
const (
	ReasonMain       ReasonCode = "main"
	ReasonLocked     ReasonCode = "locked"
	ReasonCreating   ReasonCode = "making" // git is creating it
	ReasonNested     ReasonCode = "nested" // another worktree is in it
	ReasonSession    ReasonCode = "session"
	ReasonFlock      ReasonCode = "held"       // by another process, such as a launch
	ReasonDeclared   ReasonCode = "declared"   // there is a declared lock
	ReasonDirty      ReasonCode = "dirty"      // forced
	ReasonUnmerged   ReasonCode = "unmerged"   // forced
	ReasonSubmodules ReasonCode = "submodules" // forced
	ReasonBroken     ReasonCode = "broken"     // forced
)

// Reason is why a worktree was not removed.
type Reason struct {
	Code ReasonCode
	Text string // for messages
}

// ForceOverrides reports whether force overrides the reason.
func (r Reason) ForceOverrides() bool {
	return slices.Contains([]ReasonCode{ReasonDirty, ReasonUnmerged, ReasonSubmodules, ReasonBroken}, r.Code)
}

// RefusedError says why a worktree or branch was not removed. Nothing was changed.
type RefusedError struct {
	Path    string
	Reasons []Reason
}

func (e *RefusedError) Error() string {
	var texts []string
	for _, r := range e.Reasons {
		texts = append(texts, r.Text)
	}
	return e.Path + ": " + strings.Join(texts, "; ")
}

// refusal returns a [*RefusedError], nil if there are no reasons.
func refusal(path string, reasons []Reason) error {
	if len(reasons) == 0 {
		return nil
	}
	return &RefusedError{path, reasons}
}

// blockingReasons returns the reasons against removing w that force does not override.
func blockingReasons(w Worktree, all []Worktree) []Reason {
	var out []Reason
	if w.Main {
		out = append(out, Reason{ReasonMain, "it is the repository's main worktree"})
	}
	if w.Locked && !w.Incomplete() {
		text := "it is locked"
		if w.LockReason != "" {
			text += ": " + w.LockReason
		}
		out = append(out, Reason{ReasonLocked, text})
	}
	for _, other := range all {
		if strings.HasPrefix(other.Path, w.Path+"/") {
			out = append(out, Reason{ReasonNested, "another worktree lies in it: " + other.Path})
		}
	}
	return out
}

// lossReasons returns the reasons against removing w that are about what would be lost. Commits are lost with their branch, or,
// without a branch, with the worktree. Stashes are not lost: all worktrees share them.
func (r *Repo) lossReasons(ctx context.Context, w Worktree, at createStage, deleteBranch bool) (reasons []Reason, err error) {
	if deleteBranch || w.Branch == "" {
		if reasons, err = r.unmergedReasons(ctx, w.Head, w.Branch); err != nil {
			return nil, err
		}
	}
	if at == interrupted || w.Bare || !exists(w.Path) {
		return reasons, nil // its files, if any, are those that git had written when it was killed
	}
	switch linked, err := r.isWorktreeTop(ctx, w.Path); {
	case err != nil:
		return nil, err
	case !linked:
		return append(reasons, Reason{ReasonBroken, "its .git is missing or belongs to another worktree, so git cannot say what is in it"}), nil
	}
	status, err := r.git(ctx, w.Path, "status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=none")
	if err != nil {
		return nil, err
	}
	var c Changes
	c.countFiles(status)
	var files []string
	if c.Changed > 0 {
		files = append(files, plural(c.Changed, "changed file"))
	}
	if c.Untracked > 0 {
		files = append(files, plural(c.Untracked, "untracked file"))
	}
	if len(files) > 0 {
		reasons = slices.Insert(reasons, 0, Reason{ReasonDirty, "it has " + strings.Join(files, " and ")})
	}
	modules, err := r.submoduleReasons(ctx, w.Path)
	return append(reasons, modules...), err
}

// submoduleReasons returns a reason if the worktree contains repositories of submodules, which have commits of their own.
func (r *Repo) submoduleReasons(ctx context.Context, path string) ([]Reason, error) {
	modules, err := r.git(ctx, path, "rev-parse", "--path-format=absolute", "--git-path", "modules")
	if err != nil {
		return nil, err
	}
	inside, err := os.ReadDir(strings.TrimSuffix(modules, "\n"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil || len(inside) == 0:
		return nil, err
	}
	return []Reason{{ReasonSubmodules, "it holds the repositories of its submodules"}}, nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// isWorktreeTop reports whether git takes a directory for the top of a worktree of this repository. Without its .git, the
// directory is a part of a worktree above it, if there is one.
func (r *Repo) isWorktreeTop(ctx context.Context, path string) (bool, error) {
	out, err := r.git(ctx, path, "rev-parse", "--show-cdup", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return false, ctx.Err() // it is in no repository
	}
	common, top := strings.CutPrefix(strings.TrimSuffix(out, "\n"), "\n")
	real, err := filepath.EvalSymlinks(common)
	return top && err == nil && real == r.common, nil
}

// unmergedReasons returns a reason if head has commits that are on no other branch than this one, nor on a remote branch or tag.
func (r *Repo) unmergedReasons(ctx context.Context, head, branch string) ([]Reason, error) {
	if head == "" {
		return nil, nil
	}
	args := []string{"rev-list", "--count", head, "--not"}
	if branch != "" {
		args = append(args, "--exclude="+branch)
	}
	out, err := r.git(ctx, r.common, append(args, "--branches", "--remotes", "--tags")...)
	if err != nil {
		return nil, err
	}
	n, err := strconv.Atoi(strings.TrimSpace(out))
	if err != nil || n == 0 {
		return nil, err
	}
	return []Reason{{ReasonUnmerged, plural(n, "commit") + " on no other branch, remote branch or tag"}}, nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
