package discover

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover/native/fsread"
)

// CheckPath returns nil if the path is inside the home. In a home of [TrustOurs] everything does: its owner may keep a part of it
// on another disk. In any other, no symbolic link may lead out of it, nor be in place of a database that was named: a
// sandboxed agent could have us read what it may not. A link into one of the ours is followed: people share one store among
// several homes. Error: [fsread.ErrEscapes]; others where that cannot be told. A path that leads nowhere is kept: its reader
// says so.
func (h Home) CheckPath(path string, ours ...Home) error {
	if h.Trust == TrustOurs {
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
	case slices.ContainsFunc(ours, func(o Home) bool { return o.Trust == TrustOurs && !o.FilesOnly && isBelow(real, RealPath(o.Dir)) }):
		return nil
	case root != h.Dir && real != filepath.Join(realRoot, filepath.Base(path)):
		return fsread.ErrEscapes
	case !isBelow(real, realRoot):
		return fsread.ErrEscapes
	}
	return nil
}

// isBelow reports whether a path is a directory, or below it. Both have no links in them.
func isBelow(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

// dropOutside removes the entries that lead out of their homes. The error is warnings, one for each file.
func dropOutside(homes []Home, entries []Entry) ([]Entry, error) {
	if !slices.ContainsFunc(homes, func(h Home) bool { return h.Trust != TrustOurs }) {
		return entries, nil
	}
	var errs []error
	kept := map[string]bool{} // by path: a database has many entries
	entries = slices.DeleteFunc(entries, func(e Entry) bool {
		keeps, known := kept[e.Path]
		if h, ok := homeOf(homes, e.Home, e.Path); !known {
			keeps = true
			if err := h.CheckPath(e.Path, homes...); ok && err != nil {
				keeps, errs = false, append(errs, &Warning{Agent: e.Agent, Path: e.Path, Err: err})
			}
			kept[e.Path] = keeps
		}
		return !keeps
	})
	return entries, errors.Join(errs...)
}

// Confine returns a context in which an adapter opens nothing of the homes that a link leads out of them to, unless they are
// [TrustOurs].
func Confine(ctx context.Context, homes []Home) context.Context {
	roots := make([]fsread.Root, len(homes))
	for i, h := range homes {
		roots[i] = fsread.Root{Dir: h.Dir, Files: h.Files, AllowEscape: h.Trust == TrustOurs}
		if h.FilesOnly {
			roots[i].Dir = ""
		}
	}
	return fsread.Confine(ctx, roots...)
}

func (scan *Scan) confine(ctx context.Context, agent Agent) context.Context {
	return Confine(ctx, slices.Concat(scan.homes[agent], scan.extraHomes[agent]))
}

func confineToSession(ctx context.Context, s Session) context.Context {
	h := Home{Dir: s.Home, Trust: s.Trust}
	if s.isOutsideHome() {
		h.Files = []string{s.Path}
	}
	return Confine(ctx, []Home{h})
}
