package native

import (
	"iter"
	"strings"
)

// Roots are folders that are held open while many files below them are read: the path to a folder is then gone once, and
// not again for each file.
type Roots []*Dir

// worthwhile is from how many files on it costs less to open a folder first.
const worthwhile = 16

// OpenRoots opens the folders for reading so many files below them. One that cannot be opened is left out: its files say
// why.
func OpenRoots(files int, paths iter.Seq[string]) (r Roots) {
	if files < worthwhile {
		return nil
	}
	for path := range paths {
		if d, err := OpenDir(path); err == nil {
			r = append(r, d)
		}
	}
	return r
}

// Open is [Open], by way of the root that the file lies below.
func (r Roots) Open(path string) (*File, error) {
	for _, d := range r {
		if name, ok := strings.CutPrefix(path, d.path); ok && len(name) > 1 && name[0] == '/' && name[1] != '/' {
			return openBelow(d.fd, name[1:], path)
		}
	}
	return Open(path)
}

// Close closes the folders.
func (r Roots) Close() {
	for _, d := range r {
		_ = d.Close()
	}
}
