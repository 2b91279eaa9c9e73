package lock

import (
	"os"
	"path/filepath"
)

// Place is a worktree, or a directory outside of any: what sessions and people can be in each other's way in. It is
// known by device and inode, so that bind mounts of one directory are one place. It remembers what it was asked, for
// the length of one answer, and is for one goroutine.
type Place struct {
	// Top is its key; see [Key].
	Top  string
	info os.FileInfo
	has  map[string]bool
}

// At returns the place that dir lies in. Errors are those of [Key].
func At(dir string) (*Place, error) {
	top, err := Key(dir)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(top)
	if err != nil {
		return nil, err
	}
	return &Place{Top: top, info: info, has: map[string]bool{}}, nil
}

// Gone returns the place that a directory was the top of which is not there any more. It has no other name.
func Gone(dir string) (*Place, error) {
	top, err := filepath.Abs(dir)
	return &Place{Top: top, has: map[string]bool{}}, err
}

// Has reports whether dir lies in this place. A directory that is gone has no place any more; it counts only if it was
// the top itself.
func (p *Place) Has(dir string) bool {
	if dir == "" {
		return false
	}
	has, known := p.has[dir]
	if !known {
		has = p.is(dir)
		p.has[dir] = has
	}
	return has
}

func (p *Place) is(dir string) bool {
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
