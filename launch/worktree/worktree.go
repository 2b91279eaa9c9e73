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
	"path/filepath"
	"strings"
	"time"

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

// Errors of [Open].
var (
	// ErrNoGit says that git is not in PATH.
	ErrNoGit = errors.New("git is not in PATH")
	// ErrNoRepository says that the directory is in no git repository.
	ErrNoRepository = errors.New("not in a git repository")
)

// Open finds the repository of dir, a directory in any of its worktrees, or a bare repository. Variables that an enclosing git
// has set, such as GIT_DIR in a hook, are ignored. Errors: [ErrNoGit], [ErrNoRepository], those of git.
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
