package storage

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"strings"
)

// DiskUse is what files take on disk: allocated bytes, and how many files that are not directories.
type DiskUse struct {
	Bytes int64
	Files int
}

// Plus is the sum of two.
func (u DiskUse) Plus(v DiskUse) DiskUse { return DiskUse{u.Bytes + v.Bytes, u.Files + v.Files} }

// DiskTree adds up directories. What has several names, or is in several homes by a link, counts once.
type DiskTree struct {
	ctx     context.Context // of the call that the tree lives for
	counted map[fileID]bool
	// warn gets what cannot be read; the rest is counted.
	warn func(path string, err error)
}

type fileID struct{ device, inode uint64 }

// NewDiskTree returns a tree that has counted nothing.
func NewDiskTree(ctx context.Context, warn func(path string, err error)) *DiskTree {
	return &DiskTree{ctx: ctx, counted: map[fileID]bool{}, warn: warn}
}

// maxDepth bounds how deep directories are followed: each level has an open directory.
const maxDepth = 64

// Visit calls visit for each entry of a directory, which a link may lead to; use counts an entry with all that is below it. Visit
// returns what the directory itself takes. One that does not exist has no entries.
func (t *DiskTree) Visit(path string, visit func(e fs.DirEntry, path string, use func() DiskUse)) DiskUse {
	d, own, ok := t.open(path, ".")
	if !ok {
		return DiskUse{}
	}
	defer d.Close()
	if !t.isNew(own) {
		return DiskUse{}
	}
	t.entries(d, func(e fs.DirEntry) {
		visit(e, filepath.Join(path, e.Name()), func() DiskUse { return t.entry(d, e, own.Device, 1) })
	})
	return DiskUse{Bytes: own.Bytes}
}

// Path counts a file.
func (t *DiskTree) Path(path string) DiskUse {
	d, own, ok := t.open(filepath.Dir(path), filepath.Base(path))
	if !ok {
		return DiskUse{}
	}
	defer d.Close()
	return t.count(own)
}

// open opens a directory and states an entry of it.
func (t *DiskTree) open(dir, entry string) (d *Dir, own FileUsage, ok bool) {
	d, err := OpenDir(t.ctx, dir)
	if err == nil {
		if own, err = d.Usage(entry); err != nil {
			_ = d.Close()
		}
	}
	t.failed(filepath.Join(dir, entry), err)
	return d, own, err == nil
}

// entries calls visit for each entry of an open directory.
func (t *DiskTree) entries(d *Dir, visit func(fs.DirEntry)) {
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
func (t *DiskTree) entry(d *Dir, e fs.DirEntry, device uint64, depth int) DiskUse {
	own, err := d.Usage(e.Name())
	if err != nil {
		t.failed(filepath.Join(d.Path(), e.Name()), err)
		return DiskUse{}
	}
	if !e.IsDir() {
		return t.count(own)
	}
	if !t.isNew(own) {
		return DiskUse{}
	}
	u := DiskUse{Bytes: own.Bytes}
	if own.Device != device || depth > maxDepth {
		return u
	}
	below, err := d.OpenDir(e.Name())
	if err != nil {
		t.failed(filepath.Join(d.Path(), e.Name()), err)
		return u
	}
	defer below.Close()
	t.entries(below, func(e fs.DirEntry) { u = u.Plus(t.entry(below, e, device, depth+1)) })
	return u
}

// count counts a file that was stated, unless another name of it was. A file with one name is reached once only.
func (t *DiskTree) count(s FileUsage) DiskUse {
	if s.Links > 1 && !t.isNew(s) {
		return DiskUse{}
	}
	return DiskUse{s.Bytes, 1}
}

// isNew reports whether something was not counted before.
func (t *DiskTree) isNew(s FileUsage) bool {
	id := fileID{s.Device, s.Inode}
	known := t.counted[id]
	t.counted[id] = true
	return !known
}

// failed passes an error on, unless the file has vanished.
func (t *DiskTree) failed(path string, err error) {
	if err != nil && !IsNotExist(err) {
		t.warn(path, err)
	}
}

// Place says whose an entry of a home is.
type Place struct {
	Owner int // or Nobody
	// Kind says what the entry is; "": what the home's folder that it is in is called.
	Kind string
	// Open: it is a directory, or a link to one, whose entries have places of their own.
	Open bool
}

// Home counts what is in a home. placeOf says whose an entry is, by its path below the home. What is nobody's is one sum for each folder and
// file of the home, a database with the files beside it.
func (t *DiskTree) Home(dir string, placeOf func(path string, e fs.DirEntry) Place, add func(owner int, kind, path string, u DiskUse)) {
	rest, order := map[string]DiskUse{}, []string{}
	keep := func(name string, u DiskUse) {
		if _, known := rest[name]; !known {
			order = append(order, name)
		}
		rest[name] = rest[name].Plus(u)
	}
	var count func(below, folder string) DiskUse
	count = func(below, folder string) DiskUse {
		return t.Visit(filepath.Join(dir, below), func(e fs.DirEntry, path string, use func() DiskUse) {
			below, folder := filepath.Join(below, e.Name()), cmp.Or(folder, databaseOf(e.Name()))
			switch place := placeOf(below, e); {
			case place.Open && place.Owner >= 0:
				add(place.Owner, "folder", path, count(below, folder))
			case place.Open:
				keep(folder, count(below, folder))
			case place.Owner >= 0:
				add(place.Owner, cmp.Or(place.Kind, folder), path, use())
			default:
				keep(folder, use())
			}
		})
	}
	add(Nobody, "folder", dir, count("", ""))
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
