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

	"agentctl/discover/native/fsread"
)

// Key returns the worktree key of a directory: the real path of the top level of the git worktree it lies in, else
// its own real path. A linked worktree or a submodule below a repository has a key of its own. Symbolic links,
// relative paths and sub-directories of one worktree all give one key. The error is an [fs.PathError] if dir is "", does
// not exist, is not a directory or cannot be resolved.
func Key(dir string) (string, error) {
	if dir == "" { // the directory of a session that is not known, say; filepath.Abs would return the current one
		return "", &fs.PathError{Op: "open", Path: `""`, Err: fs.ErrInvalid}
	}
	dir, err := filepath.Abs(dir)
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

// isTop reports whether dir is the top level of a worktree, by git's own rule (gitrepository-layout(5)): its .git is
// a repository – a directory with a HEAD – or a file that names one, as linked worktrees and submodules have.
func isTop(dir string) bool {
	git := filepath.Join(dir, ".git")
	if _, err := os.Lstat(filepath.Join(git, "HEAD")); err == nil {
		return true
	} else if !errors.Is(err, syscall.ENOTDIR) {
		return false
	}
	return namesRepository(git)
}

// namesRepository reports whether the regular file at path begins as a git link does.
func namesRepository(path string) bool {
	const want = "gitdir: "
	begin, err := fsread.ReadHead(path, len(want))
	return err == nil && string(begin) == want
}
