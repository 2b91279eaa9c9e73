package discover

import (
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
)

// ErrLeaves is why a path in a home that is not [Ours] is not read.
var ErrLeaves = errors.New("a link leads out of the home, which only a process names")

// Keeps is nil if what the path names lies in the home. In a home of [Ours] everything does: its owner may keep a part of it
// on another disk. In any other, no symbolic link may lead out of it, nor be in place of a database that was named: a
// sandboxed agent could have us read what it may not. Error: [ErrLeaves]; others where that cannot be told. A path that
// leads nowhere is kept: its reader says so.
func (h Home) Keeps(path string) error {
	if h.Trust == Ours {
		return nil
	}
	root := h.Dir
	if slices.Contains(h.Files, path) {
		root = filepath.Dir(path)
	}
	realRoot, err := filepath.EvalSymlinks(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	real, err := filepath.EvalSymlinks(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case root != h.Dir && real != filepath.Join(realRoot, filepath.Base(path)):
		return ErrLeaves
	case real != realRoot && !strings.HasPrefix(real, strings.TrimSuffix(realRoot, "/")+"/"):
		return ErrLeaves
	}
	return nil
}

// confine leaves out the entries that their homes do not keep. The error is warnings, one a file.
func confine(homes []Home, entries []Entry) ([]Entry, error) {
	if !slices.ContainsFunc(homes, func(h Home) bool { return h.Trust != Ours }) {
		return entries, nil
	}
	var errs []error
	kept := map[string]bool{} // by path: a database has many entries
	entries = slices.DeleteFunc(entries, func(e Entry) bool {
		keeps, known := kept[e.Path]
		if h, ok := homeOf(homes, e.Home, e.Path); !known {
			keeps = true
			if err := h.Keeps(e.Path); ok && err != nil {
				keeps, errs = false, append(errs, &Warning{Agent: e.Agent, Path: e.Path, Err: err})
			}
			kept[e.Path] = keeps
		}
		return !keeps
	})
	return entries, errors.Join(errs...)
}
