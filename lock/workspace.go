package lock

import (
	"os"
	"path/filepath"
)

// Workspace is a git worktree, or a directory outside of any: the unit in which sessions and users conflict. It is identified
// by device and inode, so that bind mounts of one directory are one workspace. It caches answers for the time of one command,
// and is for one goroutine.
type Workspace struct {
	// Top is its key; see [Key].
	Top      string
	info     os.FileInfo
	contains map[string]bool
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
	return &Workspace{Top: top, info: info, contains: map[string]bool{}}, nil
}

// MissingWorkspace returns the workspace whose top was a directory that is gone. Only its path identifies it.
func MissingWorkspace(dir string) (*Workspace, error) {
	top, err := filepath.Abs(dir)
	return &Workspace{Top: top, contains: map[string]bool{}}, err
}

// Contains reports whether dir is in this workspace. A directory that is gone is in it only if it was the top.
func (w *Workspace) Contains(dir string) bool {
	if dir == "" {
		return false
	}
	has, known := w.contains[dir]
	if !known {
		has = w.resolvesTo(dir)
		w.contains[dir] = has
	}
	return has
}

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
