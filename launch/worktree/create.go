package worktree

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"agentctl/lock"
)

// CreateOptions is a worktree to be made.
type CreateOptions struct {
	// Dir is where; see [DefaultDir]. It must not be there yet, or be empty, unless it is that very worktree.
	Dir string
	// Branch is the branch to be on: a new one, or one that no worktree is on.
	Branch string
	// Base is where a new branch starts, as git resolves names: main, origin/main, a tag, a commit. "": where the
	// directory that [Open] was given is. A branch that is there already must contain it.
	Base string
}

// CreateResult is a worktree that is there now.
type CreateResult struct {
	Worktree
	// New: it was made; otherwise it was there already, on that branch. NewBranch: so was its branch.
	New, NewBranch bool
}

// Errors of [Repo.Create].
var (
	// ErrBadName: the branch's name is none that git takes.
	ErrBadName = errors.New("is not a valid branch name")
	// ErrNoCommit: a name leads to no commit in this repository. Nothing is fetched to find it.
	ErrNoCommit = errors.New("no such commit in this repository")
)

// ConflictError: something else is where the worktree would be.
type ConflictError struct{ Message, Hint string }

func (e *ConflictError) Error() string { return e.Message }

// Create makes a worktree, or returns the one that is there on that very branch. It goes by git's list alone: a
// directory that git does not name as a worktree of this repository on this branch is never used. If it fails, what it
// has made is taken back. Errors: [ErrBadName], [ErrNoCommit], [*ConflictError], git's own.
func (r *Repo) Create(ctx context.Context, want CreateOptions) (CreateResult, error) {
	ok, err := r.test(ctx, r.common, "check-ref-format", "refs/heads/"+want.Branch)
	if err == nil && (!ok || strings.HasPrefix(want.Branch, "-")) {
		err = fmt.Errorf("%q %w", want.Branch, ErrBadName)
	}
	if err == nil {
		want.Dir, err = resolveDir(want.Dir)
	}
	if err != nil {
		return CreateResult{}, err
	}
	held, err := r.lock(ctx)
	if err != nil {
		return CreateResult{}, err
	}
	defer held.Release()
	if err := r.prune(ctx); err != nil {
		return CreateResult{}, err
	}
	there, err := r.checkTarget(ctx, want)
	if err != nil {
		return CreateResult{}, err
	}
	head, base, err := r.resolveCommits(ctx, want)
	if err != nil {
		return CreateResult{}, err
	}
	if there != nil {
		return CreateResult{Worktree: *there}, nil
	}
	return r.add(ctx, want, head == "", base)
}

// resolveDir is an absolute path whose directory, as far as there is one, has no links in it, as git writes paths.
func resolveDir(path string) (string, error) {
	path, err := filepath.Abs(path)
	return filepath.Join(lock.Resolve(filepath.Dir(path)), filepath.Base(path)), err
}

// checkTarget returns the worktree that is wanted if it is there, and otherwise sees to it that nothing is in the way: what
// git was killed making goes.
func (r *Repo) checkTarget(ctx context.Context, want CreateOptions) (*Worktree, error) {
	list, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range list {
		if w.Path != want.Dir && (w.Branch != want.Branch || w.Bare) {
			continue
		}
		stage, err := r.stage(ctx, w)
		if err != nil {
			return nil, err
		}
		switch {
		case stage == inProgress:
			return nil, &ConflictError{fmt.Sprintf("git is making the worktree %s", w.Path), "try again when it is done"}
		case stage == interrupted:
			if err := r.removeIncomplete(ctx, w); err != nil {
				return nil, err
			}
		default:
			return r.reuse(ctx, w, want)
		}
	}
	if exists(want.Dir) && !isEmptyDir(want.Dir) {
		return nil, &ConflictError{fmt.Sprintf("%s exists and is not a worktree of this repository", want.Dir), "choose another directory or branch, or move it away"}
	}
	return nil, nil
}

// isEmptyDir reports whether path is a directory with nothing in it, as git leaves one if it is killed at the wrong moment.
func isEmptyDir(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	inside, err := os.ReadDir(path)
	return err == nil && len(inside) == 0
}

// reuse returns w if it is the worktree that is wanted.
func (r *Repo) reuse(ctx context.Context, w Worktree, want CreateOptions) (*Worktree, error) {
	clean := "agentctl worktree clean " + w.Path
	on := "branch " + w.Branch
	if w.Branch == "" {
		on = "no branch"
	}
	switch {
	case w.Prunable:
		return nil, &ConflictError{fmt.Sprintf("%s is a worktree on %s whose directory is gone", w.Path, on), clean}
	case w.Path != want.Dir:
		return nil, &ConflictError{fmt.Sprintf("branch %s is checked out in %s", w.Branch, w.Path), "choose another branch, or " + clean}
	case w.Branch != want.Branch:
		return nil, &ConflictError{fmt.Sprintf("%s is a worktree on %s", w.Path, on), "choose another directory or branch"}
	}
	if linked, err := r.isWorktreeTop(ctx, w.Path); err != nil || !linked {
		return nil, errors.Join(err, &ConflictError{fmt.Sprintf("the worktree %s is broken: its .git is not there or is another's", w.Path), clean})
	}
	if !w.Incomplete() {
		return &w, nil
	}
	// All its files are there; git was killed before it took its lock away.
	_, err := r.git(ctx, r.common, "worktree", "unlock", w.Path)
	w.Locked, w.LockReason = false, ""
	return &w, err
}

// resolveCommits returns the commits that the branch is on, "" if there is no such branch, and that a new one starts at.
func (r *Repo) resolveCommits(ctx context.Context, want CreateOptions) (head, base string, err error) {
	head, err = r.resolveCommit(ctx, r.common, "refs/heads/"+want.Branch)
	if err != nil && !errors.Is(err, ErrNoCommit) {
		return "", "", err
	}
	if head != "" && want.Base == "" {
		return head, head, nil
	}
	name := want.Base
	if name == "" {
		name = "HEAD"
	}
	if base, err = r.resolveCommit(ctx, r.dir, name); err != nil || head == "" {
		return head, base, err
	}
	in, err := r.test(ctx, r.common, "merge-base", "--is-ancestor", base, head)
	if err == nil && !in {
		err = &ConflictError{fmt.Sprintf("branch %s exists and does not contain %s", want.Branch, want.Base), "choose another branch, or leave out the base"}
	}
	return head, base, err
}

// resolveCommit resolves a name.
func (r *Repo) resolveCommit(ctx context.Context, dir, name string) (string, error) {
	out, err := r.git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if _, failed := errors.AsType[*gitError](err); failed {
		return "", fmt.Errorf("%s: %w", name, ErrNoCommit)
	}
	return strings.TrimSpace(out), err
}
