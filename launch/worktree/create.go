package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/lock"
)

// CreateOptions describe a worktree to create.
type CreateOptions struct {
	// Dir is its directory; see [DefaultDir]. It must not exist, or be empty, unless it is this worktree already.
	Dir string
	// Branch is the branch to check out: a new one, or one that no worktree has checked out.
	Branch string
	// Base is where a new branch starts, as git resolves names: main, origin/main, a tag, a commit. "" is the commit of the
	// directory that [Open] was given. A branch that exists must contain Base.
	Base string
}

// CreateResult is a worktree that exists now.
type CreateResult struct {
	Worktree
	// New: it was created, and did not exist before. NewBranch: so was its branch.
	New, NewBranch bool
}

// Errors of [Repo.Create].
var (
	// ErrBadName says that git does not accept the name of the branch.
	ErrBadName = errors.New("is not a valid branch name")
	// ErrNoCommit says that a name does not resolve to a commit in this repository. Nothing is fetched to find it.
	ErrNoCommit = errors.New("no such commit in this repository")
)

// ConflictError says that something else is in the way of the worktree.
type ConflictError struct{ Message, Hint string }

func (e *ConflictError) Error() string { return e.Message }

// Create creates a worktree, or returns the existing one with this directory and branch. Only git's list decides: a directory
// that git does not list as a worktree of this repository on this branch is never used. After an error, what was created is
// removed. Errors: [ErrBadName], [ErrNoCommit], [*ConflictError], those of git.
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

// resolveDir returns the path as git writes it: absolute, and its directory without symbolic links, as far as it exists.
func resolveDir(path string) (string, error) {
	path, err := filepath.Abs(path)
	return filepath.Join(lock.Resolve(filepath.Dir(path)), filepath.Base(path)), err
}

// checkTarget returns the wanted worktree if it exists. Otherwise it returns an error if something is in the way; a worktree that
// git was killed creating is removed.
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

// isEmptyDir reports whether path is an empty directory. Git may leave one when it is killed.
func isEmptyDir(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.IsDir() {
		return false
	}
	inside, err := os.ReadDir(path)
	return err == nil && len(inside) == 0
}

// reuse returns w if it is the wanted worktree, else a [*ConflictError].
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
	// All its files exist; git was killed before it removed its lock.
	_, err := r.git(ctx, r.common, "worktree", "unlock", w.Path)
	w.Locked, w.LockReason = false, ""
	return &w, err
}

// resolveCommits returns the commit of the branch, "" if it does not exist, and the commit that a new branch starts at.
func (r *Repo) resolveCommits(ctx context.Context, want CreateOptions) (head, base string, err error) {
	head, err = r.resolveCommit(ctx, r.common, "refs/heads/"+want.Branch)
	if err != nil && !errors.Is(err, ErrNoCommit) {
		return "", "", err
	}
	if head != "" && want.Base == "" {
		return head, head, nil
	}
	if base, err = r.resolveCommit(ctx, r.dir, cmp.Or(want.Base, "HEAD")); err != nil || head == "" {
		return head, base, err
	}
	in, err := r.test(ctx, r.common, "merge-base", "--is-ancestor", base, head)
	if err == nil && !in {
		err = &ConflictError{fmt.Sprintf("branch %s exists and does not contain %s", want.Branch, want.Base), "choose another branch, or leave out the base"}
	}
	return head, base, err
}

// resolveCommit resolves a name in a directory of the repository. Error: [ErrNoCommit].
func (r *Repo) resolveCommit(ctx context.Context, dir, name string) (string, error) {
	out, err := r.git(ctx, dir, "rev-parse", "--verify", "--quiet", "--end-of-options", name+"^{commit}")
	if _, failed := errors.AsType[*gitError](err); failed {
		return "", fmt.Errorf("%s: %w", name, ErrNoCommit)
	}
	return strings.TrimSpace(out), err
}

// add runs git to create the worktree, and undoes what git has done if that fails.
func (r *Repo) add(ctx context.Context, want CreateOptions, newBranch bool, base string) (CreateResult, error) {
	args := []string{"worktree", "add", want.Dir, want.Branch}
	if newBranch {
		args = []string{"worktree", "add", "-b", want.Branch, want.Dir, base}
	}
	var above []string // the directories that git makes
	for dir := filepath.Dir(want.Dir); !exists(dir); dir = filepath.Dir(dir) {
		above = append(above, dir)
	}
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
	if w, ok := find(list, func(w Worktree) bool { return w.Path == want.Dir }); ok {
		return CreateResult{w, true, newBranch}, err
	}
	return CreateResult{}, errors.Join(err, ErrNoWorktree)
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

// Group is a launch group whose members work in worktrees of their own.
type Group struct {
	Name string
	// NameInDir: the directory of a worktree contains the name of the group if its branch does not.
	NameInDir bool
}

// options returns how the worktree of a member is created.
func (g Group) options(main Worktree, m launch.Member) CreateOptions {
	want := CreateOptions{Branch: cmp.Or(m.Branch, GroupBranch(g.Name, m.Name)), Base: m.Base}
	want.Dir = DefaultDir(main, want.Branch)
	if g.NameInDir && discover.GroupOfBranch(want.Branch) == "" {
		want.Dir = discover.GroupWorktreeDir(basePath(main), g.Name, want.Branch)
	}
	return want
}

// CreateForMember creates the worktree of a member, or returns the existing one; see [Repo.Create]. workDir is the directory that
// the agent works in: the one that corresponds to dir, if dir is in another worktree of the repository, else the top.
func (r *Repo) CreateForMember(ctx context.Context, g Group, m launch.Member, dir string) (w CreateResult, workDir string, err error) {
	list, err := r.List(ctx)
	if err != nil {
		return w, "", err
	}
	if w, err = r.Create(ctx, g.options(list[0], m)); err != nil {
		return w, "", err
	}
	return w, correspondingDir(w.Path, dir, list), nil
}

// correspondingDir returns the directory in a new worktree that corresponds to one in another worktree; the top if
// there is none.
func correspondingDir(top, dir string, list []Worktree) string {
	workspace, err := lock.WorkspaceOf(dir)
	if err != nil {
		return top
	}
	if _, ok := FindByPath(list, workspace.Top); !ok {
		return top
	}
	rel, err := filepath.Rel(workspace.Top, dir)
	if err != nil {
		return top
	}
	corresponding := filepath.Join(top, rel)
	if info, err := os.Stat(corresponding); err != nil || !info.IsDir() {
		return top
	}
	return corresponding
}
