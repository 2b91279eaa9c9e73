package native

import (
	"context"
	"iter"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"

	"agentctl/discover/native/fsread"
)

// Roots are folders that are held open while many files below them are read: the path to a folder is then gone once, and
// not again for each file.
type Roots []*Dir

// worthwhile is from how many files on it costs less to open a folder first.
const worthwhile = 16

// OpenRoots opens these folders of the homes for reading so many files below them. One that cannot be opened is left out: its
// files say why.
func OpenRoots(ctx context.Context, files int, homes iter.Seq[string], folders ...string) (r Roots) {
	if files < worthwhile {
		return nil
	}
	for home := range homes {
		for _, folder := range folders {
			if d, err := OpenDir(ctx, filepath.Join(home, folder)); err == nil {
				r = append(r, d)
			}
		}
	}
	return r
}

// Open is [Open], by way of the root that the file lies below, for one who works in s. He closes the file before he opens
// another one so: its memory is the same.
func (r Roots) Open(path string, s *Scratch) (*File, error) {
	dir, name := r.below(path)
	f, err := openAt(s.context(), &s.file, dir, name, path, fsread.NoFollow)
	if err != nil {
		return nil, err
	}
	f.Use(s)
	return f, nil
}

// Dir is [OpenDir], likewise.
func (r Roots) Dir(ctx context.Context, path string) (*Dir, error) {
	dir, name := r.below(path)
	return openDir(ctx, dir, name, path)
}

// below is what a path is called in the root that it lies below, and that; without one it is the path.
func (r Roots) below(path string) (dir int, name string) {
	for _, d := range r {
		if below, ok := strings.CutPrefix(path, d.path); ok && len(below) > 1 && below[0] == '/' && below[1] != '/' {
			return d.fd, below[1:]
		}
	}
	return unix.AT_FDCWD, path
}

// Close closes the folders.
func (r Roots) Close() {
	for _, d := range r {
		_ = d.Close()
	}
}
