package storage

import (
	"cmp"
	"context"
	"io/fs"
	"path/filepath"
	"strings"
	"syscall"
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

// fileUsage is what a file of any type takes on disk.
type fileUsage struct {
	fileID
	bytes int64  // allocated; a sparse file has fewer than its size
	links uint64 // the number of its names
}

func usageOf(info fs.FileInfo) fileUsage {
	const block = 512 // bytes, whatever the file system's own block size
	st, _ := info.Sys().(*syscall.Stat_t)
	return fileUsage{fileID{uint64(st.Dev), uint64(st.Ino)}, int64(st.Blocks) * block, uint64(st.Nlink)}
}

// NewDiskTree returns a tree that has counted nothing.
func NewDiskTree(ctx context.Context, warn func(path string, err error)) *DiskTree {
	return &DiskTree{ctx: ctx, counted: map[fileID]bool{}, warn: warn}
}

// maxDepth bounds how deep directories are followed.
const maxDepth = 64

// visit calls use for each entry of a directory, which a link may lead to; count counts an entry with all that is below it. It returns what
// the directory itself takes. One that does not exist has no entries.
func (t *DiskTree) visit(path string, use func(e fs.DirEntry, path string, count func() DiskUse)) DiskUse {
	d, err := openDir(t.ctx, path)
	if err != nil {
		t.failed(path, err)
		return DiskUse{}
	}
	defer d.Close()
	info, err := d.Stat()
	if err != nil {
		t.failed(path, err)
		return DiskUse{}
	}
	own := usageOf(info)
	if !t.isNew(own) {
		return DiskUse{}
	}
	entries, err := entriesOf(d, path)
	t.failed(path, err)
	for _, e := range entries {
		below := filepath.Join(path, e.Name())
		use(e, below, func() DiskUse { return t.entry(below, e, own.device, 1) })
	}
	return DiskUse{Bytes: own.bytes}
}

// Path counts a file.
func (t *DiskTree) Path(path string) DiskUse {
	info, err := lstat(t.ctx, path)
	if err != nil {
		t.failed(path, explainNotExist(path, err))
		return DiskUse{}
	}
	return t.count(usageOf(info))
}

// entry counts an entry of a directory with all that is below it. A directory of another file system counts by itself.
func (t *DiskTree) entry(path string, e fs.DirEntry, device uint64, depth int) DiskUse {
	if t.ctx.Err() != nil {
		return DiskUse{}
	}
	info, err := lstat(t.ctx, path)
	if err != nil {
		t.failed(path, err)
		return DiskUse{}
	}
	own := usageOf(info)
	if !e.IsDir() {
		return t.count(own)
	}
	if !t.isNew(own) {
		return DiskUse{}
	}
	u := DiskUse{Bytes: own.bytes}
	if own.device != device || depth > maxDepth {
		return u
	}
	entries, err := ReadDir(t.ctx, path)
	t.failed(path, err)
	for _, below := range entries {
		u = u.Plus(t.entry(filepath.Join(path, below.Name()), below, device, depth+1))
	}
	return u
}

// count counts a file that was stated, unless another name of it was. A file with one name is reached once only.
func (t *DiskTree) count(s fileUsage) DiskUse {
	if s.links > 1 && !t.isNew(s) {
		return DiskUse{}
	}
	return DiskUse{s.bytes, 1}
}

// isNew reports whether something was not counted before.
func (t *DiskTree) isNew(s fileUsage) bool {
	known := t.counted[s.fileID]
	t.counted[s.fileID] = true
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
		return t.visit(filepath.Join(dir, below), func(e fs.DirEntry, path string, use func() DiskUse) {
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
