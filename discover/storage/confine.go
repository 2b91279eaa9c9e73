package storage

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// Root is a directory tree that [Confine] keeps links inside of.
type Root struct {
	// Dir is the directory, and Files are its databases that are elsewhere.
	Dir   string
	Files []string
	// AllowEscape: links may lead out of it.
	AllowEscape bool
}

// confinement is the roots of a context.
type confinement []rootPath

// rootPath is a path prefix, and the directory that paths with this prefix must stay in.
type rootPath struct {
	path, dir   string
	allowEscape bool
	file        bool // path is a file, with what SQLite keeps beside it
}

// confinementKey is the context key of a confinement.
type confinementKey struct{}

// Confine returns a context with which every path below one of the roots is opened beneath that root: no link may lead
// out of it, or replace one of its Files. A link may lead into a root with AllowEscape: what is there is read anyway. The path is
// then opened beneath that one, so that nobody can change where the link leads in between. Of nested roots the inner one counts. Of roots with the same path, one with
// AllowEscape counts.
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
	rank := map[bool]int{true: 0, false: 1}
	slices.SortStableFunc(c, func(a, b rootPath) int {
		return cmp.Or(len(b.path)-len(a.path), rank[a.allowEscape]-rank[b.allowEscape])
	})
	return context.WithValue(ctx, confinementKey{}, c)
}

// add adds a directory by its given path and by its real path.
func (c *confinement) add(dir string, free bool) {
	if dir == "" {
		return
	}
	*c = append(*c, rootPath{path: dir, dir: dir, allowEscape: free})
	if real, err := filepath.EvalSymlinks(dir); err == nil && real != dir {
		*c = append(*c, rootPath{path: real, dir: dir, allowEscape: free})
	}
}

// ConfinedPath is a path below a root that links must not lead out of.
type ConfinedPath struct {
	// Root is the directory, and Name the path relative to it.
	Root, Name string
	// File: the path is one of the root's Files, or one of the files that SQLite keeps next to it.
	File bool
}

// Confined returns the root of a path; ok is false for a path that no root confines.
func Confined(ctx context.Context, path string) (p ConfinedPath, ok bool) {
	c, _ := ctx.Value(confinementKey{}).(confinement)
	for _, r := range c {
		if name, below := r.name(path); below {
			place := ConfinedPath{Root: r.dir, Name: name, File: r.file}
			if !r.allowEscape && !r.file {
				place = c.redirect(path, place)
			}
			return place, !r.allowEscape
		}
	}
	return ConfinedPath{}, false
}

// redirect returns the place that links on the path lead to, if that is below a root with AllowEscape; else the given one.
func (c confinement) redirect(path string, place ConfinedPath) ConfinedPath {
	real, err := filepath.EvalSymlinks(path)
	if err != nil || real == path {
		return place
	}
	for _, r := range c {
		if name, below := r.name(real); below {
			if r.allowEscape && !r.file {
				return ConfinedPath{Root: r.dir, Name: name}
			}
			return place
		}
	}
	return place
}

// name returns a path relative to the root.
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

// Escapes reports whether path is outside of the root that confines home; false if no root does.
func Escapes(ctx context.Context, home, path string) bool {
	root, ok := Confined(ctx, home)
	if !ok {
		return false
	}
	below, ok := Confined(ctx, path)
	return !ok || below.Root != root.Root
}
