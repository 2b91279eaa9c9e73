package fsread

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// Root is a home as [Confine] takes it.
type Root struct {
	// Dir is the home's directory, and Files are databases of it that live elsewhere.
	Dir   string
	Files []string
	// AllowEscape: links may lead out of it.
	AllowEscape bool
}

// confinement is the roots of a context.
type confinement []rootPath

// rootPath is a path that begins others, and the directory that those must not leave.
type rootPath struct {
	path, dir   string
	allowEscape bool
	file        bool // path is a file, with what SQLite keeps beside it
}

// confinementKey is the key of a confinement in a context.
type confinementKey struct{}

// Confine returns a context in which whatever is opened below a root that is not free is opened beneath it: no link may lead
// out of it, nor be in place of one of its Files. Of roots within each other, the inner one counts; a free one counts
// before another one of the same path.
func Confine(ctx context.Context, roots ...Root) context.Context {
	if !slices.ContainsFunc(roots, func(r Root) bool { return !r.AllowEscape }) {
		return ctx
	}
	var c confinement
	for _, r := range roots {
		c.add(r.Dir, r.AllowEscape)
		for _, file := range r.Files {
			c = append(c, rootPath{path: file, dir: filepath.Dir(file), allowEscape: r.AllowEscape, file: true})
		}
	}
	slices.SortStableFunc(c, func(a, b rootPath) int {
		switch {
		case len(a.path) != len(b.path):
			return len(b.path) - len(a.path)
		case a.allowEscape == b.allowEscape:
			return 0
		case a.allowEscape:
			return -1
		}
		return 1
	})
	return context.WithValue(ctx, confinementKey{}, c)
}

// add adds a directory under the name that it was given, and under its real one.
func (c *confinement) add(dir string, free bool) {
	if dir == "" {
		return
	}
	*c = append(*c, rootPath{path: dir, dir: dir, allowEscape: free})
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		*c = append(*c, rootPath{path: real, dir: dir, allowEscape: free})
	}
}

// ConfinedPath is where a path lies below a root that no link may lead out of.
type ConfinedPath struct {
	// Root is the directory, and Name what the path is called in it.
	Root, Name string
	// File: the path is one of the root's Files, or what SQLite keeps beside one.
	File bool
}

// Confined is where a path lies; ok is false for one that may lead anywhere.
func Confined(ctx context.Context, path string) (p ConfinedPath, ok bool) {
	c, _ := ctx.Value(confinementKey{}).(confinement)
	for _, r := range c {
		if name, below := r.name(path); below {
			return ConfinedPath{Root: r.dir, Name: name, File: r.file}, !r.allowEscape
		}
	}
	return ConfinedPath{}, false
}

// name is what a path is called in the root's directory.
func (r rootPath) name(path string) (name string, below bool) {
	if r.file {
		rest, begins := strings.CutPrefix(path, r.path)
		return filepath.Base(path), begins && (rest == "" || rest == "-wal" || rest == "-shm" || rest == "-journal")
	}
	rest, begins := strings.CutPrefix(path, strings.TrimSuffix(r.path, "/"))
	switch {
	case !begins:
		return "", false
	case rest == "" || rest == "/":
		return ".", true
	}
	return strings.TrimLeft(rest, "/"), rest[0] == '/'
}

// Escapes reports whether a path is not below a home that must not be left.
func Escapes(ctx context.Context, home, path string) bool {
	root, ok := Confined(ctx, home)
	if !ok {
		return false
	}
	below, ok := Confined(ctx, path)
	return !ok || below.Root != root.Root
}
