// Package lock decides who keeps whom out of a directory.
//
// Its basis is the worktree key: agents work side by side in git worktrees, so two directories conflict if and only if they
// have the same key. An [Activity] has the locks in force and the conflicts that a caller meets: live sessions, kernel locks
// and declared locks.
package lock

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/proc"
)

// Key returns the worktree key of a directory: the real path of the top level of the git worktree it lies in, else
// its own real path. A linked worktree or a submodule below a repository has a key of its own. Symbolic links,
// relative paths and sub-directories of one worktree all give one key. The error is an [fs.PathError] if dir is "", does
// not exist, is not a directory or cannot be resolved.
func Key(dir string) (string, error) {
	if dir == "" { // the directory of a session that is not known, say; filepath.Abs would return the current one
		return "", &fs.PathError{Op: "open", Path: `""`, Err: fs.ErrInvalid}
	}
	dir, err := Abs(dir)
	if err != nil {
		return "", err
	}
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return "", err
	}
	info, err := os.Stat(real)
	if err != nil {
		return "", err
	}
	if !info.IsDir() {
		return "", &fs.PathError{Op: "open", Path: dir, Err: syscall.ENOTDIR}
	}
	for top := real; ; top = filepath.Dir(top) {
		if isTop(top) {
			return top, nil
		}
		if top == filepath.Dir(top) {
			return real, nil
		}
	}
}

// ErrNoCurrentDirectory says that the directory in which this process works was deleted.
var ErrNoCurrentDirectory = errors.New("the current directory was deleted")

// Abs is [filepath.Abs] with the error [ErrNoCurrentDirectory].
func Abs(dir string) (string, error) {
	path, err := filepath.Abs(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return "", ErrNoCurrentDirectory
	}
	return path, err
}

// isTop reports whether dir is the top level of a worktree, by git's own rule (gitrepository-layout(5)): its .git is
// a repository – a directory with a HEAD – or a file that names one, as linked worktrees and submodules have.
func isTop(dir string) bool {
	git := filepath.Join(dir, ".git")
	if _, err := os.Lstat(filepath.Join(git, "HEAD")); err == nil {
		return true
	} else if !errors.Is(err, syscall.ENOTDIR) {
		return false
	}
	const link = "gitdir: "
	begin, err := storage.ReadHead(git, len(link))
	return err == nil && string(begin) == link
}

// Resolve returns an absolute path without symbolic links, as far as it exists. A relative one stays as it is.
func Resolve(path string) string {
	for dir := path; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			return filepath.Join(real, path[len(dir):])
		}
		if dir == "/" {
			break
		}
	}
	return path
}

// Workspace is a git worktree, or a directory outside of any: the unit in which sessions and users conflict. It is identified
// by device and inode, so that bind mounts of one directory are one workspace. It is for one goroutine.
type Workspace struct {
	// Top is its key; see [Key].
	Top      string
	info     os.FileInfo
	contains answers
}

// WorkspaceOf returns the workspace that contains dir. Errors are those of [Key].
func WorkspaceOf(dir string) (*Workspace, error) {
	top, err := Key(dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(top)
	if err != nil {
		return nil, err
	}
	return &Workspace{Top: top, info: info, contains: answers{}}, nil
}

// IsWorktree reports whether the workspace is a git worktree.
func (w *Workspace) IsWorktree() bool { return isTop(w.Top) }

// MissingWorkspace returns the workspace whose top was a directory that is gone. Only its path identifies it.
func MissingWorkspace(dir string) (*Workspace, error) {
	top, err := filepath.Abs(dir)
	return &Workspace{Top: top, contains: answers{}}, err
}

// answers caches what was asked of directories, for the time of one command.
type answers map[string]bool

// get returns the answer for a directory. That for "" is no.
func (a answers) get(dir string, ask func(dir string) bool) bool {
	answer, known := a[dir]
	if !known && dir != "" {
		answer = ask(dir)
		a[dir] = answer
	}
	return answer
}

// Contains reports whether dir is in this workspace. A directory that is gone is in it only if it was the top.
func (w *Workspace) Contains(dir string) bool { return w.contains.get(dir, w.resolvesTo) }

func (w *Workspace) resolvesTo(dir string) bool {
	top, err := Key(dir)
	if err != nil {
		return filepath.Clean(dir) == w.Top
	}
	if top == w.Top {
		return true
	}
	info, err := os.Stat(top)
	return err == nil && os.SameFile(info, w.info)
}

// Kind says what makes a lock.
type Kind string

// The kinds of lock. Only the last is stored anywhere.
const (
	// KindSession: a live session works in the workspace.
	KindSession Kind = "session"
	// KindFlock: a process holds the directory by a kernel lock.
	KindFlock Kind = "held"
	// KindDeclared: a user or script has declared it.
	KindDeclared Kind = "declared"
)

// Lock is one lock in force.
type Lock struct {
	Kind Kind
	// Dir is the top of the workspace. For [KindFlock] it is a path of the directory, below the root of a holder if only that has one.
	Dir string
	// Session is set for [KindSession], Declared for [KindDeclared]. Holders are the processes of a [KindFlock], the oldest first,
	// as far as they can be seen: all but the first have inherited it.
	Session *discover.Session
	Holders []proc.Process
	// Shared is for [KindFlock]: it conflicts only with an exclusive lock.
	Shared   bool
	Declared *DeclaredLock

	info os.FileInfo // of the directory of a [KindFlock]
}

// Since returns when the lock came into force, the zero time if that is unknown. For a session it is the start of its process.
func (l Lock) Since() time.Time {
	switch {
	case l.Declared != nil:
		return l.Declared.Since
	case len(l.Holders) > 0:
		return l.Holders[0].Started
	case l.Session != nil:
		return l.Session.ProcessStarted()
	}
	return time.Time{}
}

// SessionDir returns the directory that a session keeps others out of: the one that its record names. A record in a home that
// is not ours is not believed: there it is the working directory of the session's process, by the kernel.
func SessionDir(s discover.Session) string {
	if s.Trust == discover.TrustOurs {
		return s.Dir
	}
	for _, p := range s.Processes {
		if dir, err := p.Cwd(); err == nil {
			return dir
		}
	}
	return ""
}

// sessionLocks reports whether a live session locks its workspace: its turn is not over, or that is unknown. With strict, an
// idle session does too. A sub-agent counts as its root session, one of all: it locks the workspace only if the root session
// does not, which may be idle while it waits for the sub-agent.
func sessionLocks(s discover.Session, all []discover.Session, strict bool) bool {
	if s.IsSubagent() {
		strict = false
		if root := discover.RootSession(all, s); !root.IsSubagent() && root.Dir == s.Dir && sessionLocks(root, all, false) {
			return false
		}
	}
	switch s.Status {
	case discover.Running, discover.Waiting, discover.Unknown:
		return true
	case discover.Idle:
		return strict
	}
	return false
}
