// Package worktree creates, lists and removes git worktrees, so that several agents can work on one repository at the same
// time. It knows git, and no agent.
//
// Git is asked for every fact and makes every change; nothing else is stored. A worktree that git was killed creating is known
// by the lock that git puts on it, and the next call repairs or removes it. Nothing is fetched. Git 2.36 or newer is needed.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/lock"
)

// Worktree is what git says of one worktree (git-worktree(1), list --porcelain).
type Worktree struct {
	// Path is the top directory, absolute, as git has recorded it.
	Path string
	// Head is the commit that is checked out; "" for a bare repository and a branch without a commit.
	Head string
	// Branch is the branch that is checked out, without refs/heads/; "" if Detached or Bare.
	Branch string
	// Main: it is the main worktree, not a linked one.
	Main bool
	// Bare: it is the main worktree of a bare repository.
	Bare     bool
	Detached bool
	// Locked: git does not remove it. LockReason says why, "" if no reason was given.
	Locked     bool
	LockReason string
	// Prunable: its directory is gone or broken, for PruneReason.
	Prunable    bool
	PruneReason string
}

// initializing is the lock reason of a worktree that git has not finished creating, in the C locale (git 2.39,
// builtin/worktree.c).
const initializing = "initializing"

// Incomplete reports whether git has not finished creating it: git is at work, or was killed.
func (w Worktree) Incomplete() bool { return w.Locked && w.LockReason == initializing }

// Repo is a git repository.
type Repo struct {
	program string        // path of git
	environ []string      // environment of git
	options []string      // of every call
	dir     string        // the directory that was given: in one of the worktrees
	common  string        // git's directory, which all worktrees share
	timeout time.Duration // of commands that read only git's files; 0 is readTimeout
}

// ErrNoGit says that git is not in PATH.
var ErrNoGit = errors.New("git is not in PATH")

// Open finds the repository of dir, a directory in any of its worktrees, or a bare repository. Variables that an enclosing git
// has set, such as GIT_DIR in a hook, are ignored. Errors: [ErrNoGit], [lock.ErrNoRepository], those of git.
func Open(ctx context.Context, host launch.Environment, dir string) (*Repo, error) {
	program, err := host.LookPath("git")
	if err != nil {
		return nil, ErrNoGit
	}
	r := &Repo{program: program, environ: gitEnviron(host.Environ), dir: dir}
	out, err := r.git(ctx, dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if isNoRepository(err) {
		return nil, fmt.Errorf("%s is %w", dir, lock.ErrNoRepository)
	}
	if err != nil {
		return nil, err
	}
	r.common, err = filepath.EvalSymlinks(strings.TrimSuffix(out, "\n"))
	return r, err
}

// lock keeps other processes of agentctl from changing the repository's worktrees until it is released. Git has no such lock: if
// two worktrees are added in one directory at the same time, both may succeed (git 2.39).
func (r *Repo) lock(ctx context.Context) (*lock.Flock, error) {
	held, err := lock.FlockDir(ctx, r.common)
	if errors.Is(err, lock.ErrFlocked) {
		err = ctx.Err()
	}
	return held, err
}

// isNoRepository reports whether git says that there is no repository.
func isNoRepository(err error) bool {
	failed, ok := errors.AsType[*gitError](err)
	return ok && strings.Contains(failed.message, "not a git repository")
}

// List returns all worktrees of the repository in git's order, the main one first.
func (r *Repo) List(ctx context.Context) ([]Worktree, error) {
	out, err := r.git(ctx, r.common, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	list := parseList(out)
	return list, r.fixSubmodulePath(ctx, &list[0])
}

// textLimit bounds the path of a worktree and each reason, in characters. Git prints its files at any size; no system has
// longer paths.
const textLimit = discover.PathLimit

// parseList parses records of NUL-terminated lines. An empty line ends each record.
func parseList(out string) (list []Worktree) {
	for record := range strings.SplitSeq(strings.TrimSuffix(out, recordEnd), recordEnd) {
		w := Worktree{Main: len(list) == 0}
		for line := range strings.SplitSeq(record, "\x00") {
			key, value, _ := strings.Cut(line, " ")
			w.set(key, value)
		}
		list = append(list, w)
	}
	return list
}

const recordEnd = "\x00\x00"

func (w *Worktree) set(key, value string) {
	switch key {
	case "worktree":
		w.Path = discover.Truncate(value, textLimit)
	case "HEAD":
		if strings.Trim(value, "0") != "" {
			w.Head = value
		}
	case "branch":
		w.Branch = strings.TrimPrefix(value, "refs/heads/")
	case "bare":
		w.Bare = true
	case "detached":
		w.Detached = true
	case "locked":
		w.Locked, w.LockReason = true, discover.Truncate(value, textLimit)
	case "prunable":
		w.Prunable, w.PruneReason = true, discover.Truncate(value, textLimit)
	}
}

// fixSubmodulePath sets the path of a submodule's main worktree. Git (2.39) lists the submodule's git directory instead.
func (r *Repo) fixSubmodulePath(ctx context.Context, main *Worktree) error {
	if main.Bare || main.Path != r.common {
		return nil
	}
	top, err := r.git(ctx, r.common, "rev-parse", "--show-toplevel")
	if err == nil {
		main.Path = strings.TrimSuffix(top, "\n")
	}
	return err
}

// FindByPath returns the worktree whose top directory is at path, by whatever name.
func FindByPath(list []Worktree, path string) (Worktree, bool) {
	name, err := resolveDir(path)
	if err != nil {
		return Worktree{}, false
	}
	target, err := filepath.EvalSymlinks(name)
	return find(list, func(w Worktree) bool { return w.Path == name || err == nil && w.Path == target })
}

// FindByBranch returns the worktree that a branch is checked out in.
func FindByBranch(list []Worktree, branch string) (Worktree, bool) {
	return find(list, func(w Worktree) bool { return w.Branch == branch && branch != "" })
}

func find(list []Worktree, match func(Worktree) bool) (Worktree, bool) {
	if i := slices.IndexFunc(list, match); i >= 0 {
		return list[i], true
	}
	return Worktree{}, false
}

// DefaultDir returns the default directory of a branch's worktree: beside the main worktree, with its name and that of the
// branch, a - for each /. Two branches may have one directory; [Repo.Create] refuses the second.
func DefaultDir(main Worktree, branch string) string {
	return basePath(main) + "-" + strings.ReplaceAll(branch, "/", "-")
}

// basePath returns the path of the main worktree, without the .git of a bare repository's.
func basePath(main Worktree) string {
	if name, ok := strings.CutSuffix(main.Path, ".git"); ok && main.Bare && !strings.HasSuffix(name, "/") {
		return name
	}
	return main.Path
}

// NewGroupID makes the ID of a launch group: g- and six random hexadecimal digits.
func NewGroupID() string { return fmt.Sprintf("g-%06x", rand.IntN(1<<24)) }

// GroupBranch returns the branch of a member of a launch group. [discover.GroupOfBranch] reads it.
func GroupBranch(group, name string) string {
	return discover.GroupBranchPrefix + group + "/" + name
}
