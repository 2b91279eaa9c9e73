package lock

import (
	"os"
	"path/filepath"
)

// Workspace is a worktree, or a directory outside of any: what sessions and people can be in each other's way in. It is
// known by device and inode, so that bind mounts of one directory are one place. It remembers what it was asked, for
// the length of one answer, and is for one goroutine.
type Workspace struct {
	// Top is its key; see [Key].
	Top      string
	info     os.FileInfo
	contains map[string]bool
}

// WorkspaceOf returns the place that dir lies in. Errors are those of [Key].
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

// MissingWorkspace returns the place that a directory was the top of which is not there any more. It has no other name.
func MissingWorkspace(dir string) (*Workspace, error) {
	top, err := filepath.Abs(dir)
	return &Workspace{Top: top, contains: map[string]bool{}}, err
}

// Contains reports whether dir lies in this place. A directory that is gone has no place any more; it counts only if it was
// the top itself.
func (p *Workspace) Contains(dir string) bool {
	if dir == "" {
		return false
	}
	has, known := p.contains[dir]
	if !known {
		has = p.resolvesTo(dir)
		p.contains[dir] = has
	}
	return has
}

func (p *Workspace) resolvesTo(dir string) bool {
	top, err := Key(dir)
	if err != nil {
		return filepath.Clean(dir) == p.Top
	}
	if top == p.Top {
		return true
	}
	info, err := os.Stat(top)
	return err == nil && os.SameFile(info, p.info)
}
