package fsread

import (
	"context"
	"errors"
	"io/fs"
	"iter"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// Dir is an open directory. Its entries are read and stated relative to it, so that a concurrent rename of a parent
// cannot mix two trees.
type Dir struct {
	ctx  context.Context // of the call that opened it
	path string
	fd   int
}

// FileInfo is what [Dir.Stat] returns of a file.
type FileInfo struct {
	Size    int64 // bytes
	ModTime time.Time
}

// DirEntry is one entry of a directory.
type DirEntry struct {
	name string
	mode fs.FileMode // the type bits
}

// Name returns the name of the entry, without its directory.
func (n DirEntry) Name() string { return n.name }

// Type returns the type bits: 0 for a regular file.
func (n DirEntry) Type() fs.FileMode { return n.mode }

// IsDir reports whether the entry is a directory; a link to one is not.
func (n DirEntry) IsDir() bool { return n.mode.IsDir() }

// ErrBrokenLink is returned for a link whose target does not exist, such as one to a disk that is not mounted.
// [IsNotExist] is false for it, since the target may exist later.
var ErrBrokenLink = errors.New("a symbolic link is broken")

// OpenDir opens a directory. Links are followed, since people link ~/.claude to other disks, but not out of the root that
// ctx confines the path to; see [Confine].
func OpenDir(ctx context.Context, path string) (*Dir, error) {
	return openDir(ctx, unix.AT_FDCWD, path, path)
}

// ReadDir returns the entries of a directory; see [OpenDir] and [Dir.Entries].
func ReadDir(ctx context.Context, path string) ([]DirEntry, error) {
	d, err := OpenDir(ctx, path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Entries()
}

// OpenDir opens a directory below this one, as the function [OpenDir] does.
func (d *Dir) OpenDir(name string) (*Dir, error) { return openDir(d.ctx, d.fd, name, d.path+"/"+name) }

// openDir opens a name in an open directory; path is the path of the directory to open.
func openDir(ctx context.Context, in int, name, path string) (*Dir, error) {
	place, ok := Confined(ctx, path)
	fd, err := retry(func() (int, error) {
		if ok {
			return OpenDirBeneath(place.Root, place.Name)
		}
		return unix.Openat(in, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	})
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: explainNotExist(path, err)}
	}
	return &Dir{ctx: ctx, path: path, fd: fd}, nil
}

// Path returns the path that the directory was opened by.
func (d *Dir) Path() string { return d.path }

// Close closes the directory.
func (d *Dir) Close() error { return unix.Close(d.fd) }

// Entries returns all entries in directory order. Their types come with the listing, except on file systems that have
// none there; then each entry is stated. The entries before an error are returned with it.
func (d *Dir) Entries() (names []DirEntry, err error) {
	for n, err := range d.AllEntries(nil) {
		if err != nil {
			return names, err
		}
		names = append(names, n)
	}
	return names, nil
}

// AllEntries yields the entries one by one. It reads into s, for callers that read many directories. An error is the last
// value.
func (d *Dir) AllEntries(s *Buffers) iter.Seq2[DirEntry, error] {
	return func(yield func(DirEntry, error) bool) {
		room := s.takeDirents()
		defer func() { s.returnDirents(room) }()
		d.readEntries(&room, func(n DirEntry, err error) bool {
			if err != nil {
				err = &fs.PathError{Op: "list", Path: d.path, Err: err}
			}
			return yield(n, err)
		})
	}
}

// Stat states a regular file of the directory, or of a directory below it; anything else is [ErrNotRegular].
func (d *Dir) Stat(name string) (FileInfo, error) {
	var st unix.Stat_t
	err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case IsNotExist(err):
		return FileInfo{}, err // without a path: it is frequent, and no caller reports it
	case err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG:
		err = ErrNotRegular
	case err == nil:
		return FileInfo{Size: st.Size, ModTime: modTime(&st)}, nil
	}
	return FileInfo{}, &fs.PathError{Op: "stat", Path: d.path + "/" + name, Err: err}
}

// StatEntry states an entry if it must: if the listing shows a regular file and the caller needs neither its time nor its
// size (timed is false), it makes no system call and returns a zero FileInfo.
func (d *Dir) StatEntry(n DirEntry, timed bool) (FileInfo, error) {
	if !timed && n.mode.IsRegular() {
		return FileInfo{}, nil
	}
	return d.Stat(n.name)
}

// explainNotExist returns the reason why path does not exist: [ErrBrokenLink] if a link on the way to it is broken, else
// err.
func explainNotExist(path string, err error) error {
	if !IsNotExist(err) {
		return err
	}
	for {
		var st unix.Stat_t
		if unix.Lstat(path, &st) == nil {
			if st.Mode&unix.S_IFMT == unix.S_IFLNK && unix.Stat(path, &st) != nil {
				return ErrBrokenLink
			}
			return err
		}
		parent := filepath.Dir(path)
		if parent == path {
			return err
		}
		path = parent
	}
}

// EvalSymlinks is [filepath.EvalSymlinks] with two errors of this package: [ErrBrokenLink], and [ErrEscapes] if a link
// leads out of the root that ctx confines the path to; see [Confine]. One of a root's Files is returned as it is.
func EvalSymlinks(ctx context.Context, path string) (string, error) {
	place, ok := Confined(ctx, path)
	if ok && place.File {
		return path, nil // no link is followed
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", explainNotExist(path, err)
	}
	if ok && Escapes(ctx, place.Root, real) {
		return "", ErrEscapes
	}
	return real, nil
}

// WithoutPath returns the cause of err if err is about the file at path, for a message that names the file itself.
func WithoutPath(path string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok && p.Path == path && errors.Is(p, err) { // itself, not wrapped in more words
		return p.Err
	}
	return err
}

// IsNotExist reports whether err is fs.ErrNotExist. That is no fault of a store: agents create their directories when
// they need them, and files are removed while others read.
func IsNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist)
}
