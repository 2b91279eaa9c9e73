// Package worktree makes, lists and removes git worktrees, so that several agents can work on one repository without
// being in each other's way. It knows git, and no agent.
//
// Git is asked for every fact and does every change; nothing is kept beside it. What git leaves when it is killed half
// way is known by its own mark, and found again by the next call. Nothing is fetched. It needs git 2.36 or newer.
package worktree

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"agentctl/launch"
	"agentctl/lock"
)

// Worktree is what git says of one worktree (git-worktree(1), list --porcelain).
type Worktree struct {
	// Path is its top directory, absolute, as git recorded it.
	Path string
	// Head is the commit it is on; "" for a bare repository and a branch without a commit.
	Head string
	// Branch is the one checked out, without refs/heads/; "" if Detached or Bare.
	Branch string
	// Main: it is the repository's own, not a linked one.
	Main bool
	// Bare: it is the main one, of a repository without files.
	Bare     bool
	Detached bool
	// Locked: it is kept from being removed, for LockReason if somebody gave one.
	Locked     bool
	LockReason string
	// Prunable: there is nothing there any more, for PruneReason.
	Prunable    bool
	PruneReason string
}

// initializing is the reason for which git locks a worktree until it is whole, in the C locale (git 2.39, builtin/worktree.c).
const initializing = "initializing"

// Incomplete reports whether git has not finished making it: it is at work, or it was killed.
func (w Worktree) Incomplete() bool { return w.Locked && w.LockReason == initializing }

// Repo is a git repository.
type Repo struct {
	program  string        // git's path
	environ  []string      // what it runs in
	options  []string      // of every call
	readOnly bool          // nothing is written, not even to a temporary file
	dir      string        // how the repository was named: a directory in one of its worktrees
	common   string        // its own directory, which all worktrees share
	timeout  time.Duration // of what reads git's own files; 0: readTimeout
}

// Errors of [Open].
var (
	// ErrNoGit: there is no git in PATH.
	ErrNoGit = errors.New("git is not in PATH")
	// ErrNoRepository: the directory lies in no git repository.
	ErrNoRepository = errors.New("not in a git repository")
)

// Open finds the repository that dir lies in: a directory in any of its worktrees, or a bare repository. What git is
// told by an enclosing one (GIT_DIR and the like, as in a hook) does not count. Errors: [ErrNoGit], [ErrNoRepository],
// git's own.
func Open(ctx context.Context, host launch.Environment, dir string) (*Repo, error) {
	program, err := host.LookPath("git")
	if err != nil {
		return nil, ErrNoGit
	}
	r := &Repo{program: program, environ: gitEnviron(host.Environ), dir: dir}
	out, err := r.git(ctx, dir, "rev-parse", "--path-format=absolute", "--git-common-dir")
	if isNoRepository(err) {
		return nil, fmt.Errorf("%s is %w", dir, ErrNoRepository)
	}
	if err != nil {
		return nil, err
	}
	r.common, err = filepath.EvalSymlinks(strings.TrimSuffix(out, "\n"))
	return r, err
}

// lock keeps other calls of ours from changing the repository's worktrees until it is released. Git does not do so: of
// two worktrees added in one directory at the same time, both may succeed (git 2.39).
func (r *Repo) lock(ctx context.Context) (*lock.Flock, error) {
	held, err := lock.FlockDir(ctx, r.common)
	if errors.Is(err, lock.ErrFlocked) {
		err = ctx.Err()
	}
	return held, err
}

// isNoRepository reports whether git says that it is in none.
func isNoRepository(err error) bool {
	failed, ok := errors.AsType[*gitError](err)
	return ok && strings.Contains(failed.message, "not a git repository")
}
