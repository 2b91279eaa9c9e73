// Package diskusage adds up what files take on disk, without following a link or leaving a file system.
package diskusage

import (
	"context"
	"io/fs"
	"path/filepath"
	"strings"

	"agentctl/discover/native/fsread"
)

// Use is what files take on disk: allocated bytes, and how many files that are not directories.
type Use struct {
	Bytes int64
	Files int
}

// Plus is the sum of two.
func (u Use) Plus(v Use) Use { return Use{u.Bytes + v.Bytes, u.Files + v.Files} }

// Tree adds up directories. What has several names, or is in several homes by a link, counts once.
type Tree struct {
	ctx     context.Context // of the call that the tree lives for
	counted map[fileID]bool
	// warn gets what cannot be read; the rest is counted.
	warn func(path string, err error)
}

type fileID struct{ device, inode uint64 }

// NewTree returns a tree that has counted nothing.
func NewTree(ctx context.Context, warn func(path string, err error)) *Tree {
	return &Tree{ctx: ctx, counted: map[fileID]bool{}, warn: warn}
}

// maxDepth bounds how deep directories are followed: each level has an open directory.
const maxDepth = 64

// Visit calls visit for each entry of a directory, which a link may lead to; use counts an entry with all that is below it. Visit
// returns what the directory itself takes. One that does not exist has no entries.
func (t *Tree) Visit(path string, visit func(e fs.DirEntry, path string, use func() Use)) Use {
	d, err := fsread.OpenDir(t.ctx, path)
	if err != nil {
		t.failed(path, err)
		return Use{}
	}
	defer d.Close()
	own, err := d.Usage(".")
	if err != nil {
		t.failed(path, err)
		return Use{}
	}
	if !t.isNew(own, 0) {
		return Use{}
	}
	t.entries(d, func(e fs.DirEntry) {
		visit(e, filepath.Join(path, e.Name()), func() Use { return t.entry(d, e, own.Device, 1) })
	})
	return Use{Bytes: own.Bytes}
}

// Path counts a file, or a directory with all that is below it.
func (t *Tree) Path(path string) (u Use) {
	d, err := fsread.OpenDir(t.ctx, filepath.Dir(path))
	if err != nil {
		t.failed(path, err)
		return Use{}
	}
	defer d.Close()
	own, err := d.Usage(filepath.Base(path))
	if err != nil {
		t.failed(path, err)
		return Use{}
	}
	if below, err := d.OpenDir(filepath.Base(path)); err == nil {
		defer below.Close()
		if opened, err := below.Usage("."); err == nil && opened.Inode == own.Inode && opened.Device == own.Device { // else it is a link
			if !t.isNew(own, 0) {
				return Use{}
			}
			return Use{Bytes: own.Bytes}.Plus(t.below(below, own.Device, 1))
		}
	}
	return t.count(own, 1)
}

// entries calls visit for each entry of an open directory.
func (t *Tree) entries(d *fsread.Dir, visit func(fs.DirEntry)) {
	all, err := d.Entries()
	t.failed(d.Path(), err)
	for _, e := range all {
		if t.ctx.Err() != nil {
			return
		}
		visit(e)
	}
}

// entry counts an entry of an open directory. A directory of another file system counts by itself.
func (t *Tree) entry(d *fsread.Dir, e fs.DirEntry, device uint64, depth int) Use {
	own, err := d.Usage(e.Name())
	if err != nil {
		t.failed(filepath.Join(d.Path(), e.Name()), err)
		return Use{}
	}
	if !e.IsDir() {
		return t.count(own, 1)
	}
	if !t.isNew(own, 0) {
		return Use{}
	}
	u := Use{Bytes: own.Bytes}
	if own.Device != device || depth > maxDepth {
		return u
	}
	below, err := d.OpenDir(e.Name())
	if err != nil {
		t.failed(filepath.Join(d.Path(), e.Name()), err)
		return u
	}
	defer below.Close()
	return u.Plus(t.below(below, device, depth+1))
}

// below counts all that is in an open directory.
func (t *Tree) below(d *fsread.Dir, device uint64, depth int) (u Use) {
	t.entries(d, func(e fs.DirEntry) { u = u.Plus(t.entry(d, e, device, depth)) })
	return u
}

// count counts a file that was stated, unless another name of it was.
func (t *Tree) count(s fsread.FileUsage, files int) Use {
	if !t.isNew(s, files) {
		return Use{}
	}
	return Use{s.Bytes, files}
}

// isNew reports whether something was not counted before. files is 0 for a directory. A file with one name is reached once only, as
// every directory is.
func (t *Tree) isNew(s fsread.FileUsage, files int) bool {
	if files > 0 && s.Links < 2 {
		return true
	}
	id := fileID{s.Device, s.Inode}
	known := t.counted[id]
	t.counted[id] = true
	return !known
}

// failed passes an error on, unless the file has vanished.
func (t *Tree) failed(path string, err error) {
	if err != nil && !fsread.IsNotExist(err) {
		t.warn(path, err)
	}
}

// Home counts what is in the folders of a home. owner says whose an entry of a folder is; what is nobody's is one sum for each
// folder and file of the home, a database with the files beside it. Folders that skip names are left out.
func (t *Tree) Home(dir string, skip func(name string) bool, owner func(folder, name string) (index int, ok bool), add func(owner int, kind, path string, u Use)) {
	rest, order := map[string]Use{}, []string{}
	keep := func(name string, u Use) {
		if _, known := rest[name]; !known {
			order = append(order, name)
		}
		rest[name] = rest[name].Plus(u)
	}
	own := t.Visit(dir, func(e fs.DirEntry, path string, use func() Use) {
		name := e.Name()
		switch {
		case skip(name):
		case e.IsDir():
			keep(name, t.Visit(path, func(below fs.DirEntry, place string, use func() Use) {
				if i, ok := owner(name, below.Name()); ok {
					add(i, name, place, use())
					return
				}
				keep(name, use())
			}))
		default:
			keep(databaseOf(name), use())
		}
	})
	add(Nobody, "folder", dir, own)
	for _, name := range order {
		add(Nobody, name, filepath.Join(dir, name), rest[name])
	}
}

// Nobody is the owner of what belongs to no session.
const Nobody = -1

// databaseOf returns the name of the database that a file lies beside, or else the file's own.
func databaseOf(name string) string {
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if base, ok := strings.CutSuffix(name, suffix); ok {
			return base
		}
	}
	return name
}
