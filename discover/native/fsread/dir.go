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

// Dir is an open directory. Its entries are listed and stated relative to it, so that a rename of a parent
// meanwhile cannot mix two trees.
type Dir struct {
	ctx  context.Context // that it was opened in
	path string
	fd   int
}

// FileInfo is what a directory tells of one of its files.
type FileInfo struct {
	Size    int64 // bytes
	ModTime time.Time
}

// DirEntry is one entry of a directory.
type DirEntry struct {
	name string
	mode fs.FileMode // the type bits
}

// Name is the entry's name alone.
func (n DirEntry) Name() string { return n.name }

// Type is the entry's type: 0 for a regular file.
func (n DirEntry) Type() fs.FileMode { return n.mode }

// IsDir reports whether the entry is a directory; a link to one is none.
func (n DirEntry) IsDir() bool { return n.mode.IsDir() }

// ErrBrokenLink is returned for a link that leads nowhere, as to a disk that is not mounted. That is not [Absent]: what
// it led to may well be there.
var ErrBrokenLink = errors.New("a symbolic link is broken")

// OpenDir opens a directory; links are followed, since people do link ~/.claude elsewhere, but not out of the root that ctx
// confines the path to; see [Confine].
func OpenDir(ctx context.Context, path string) (*Dir, error) {
	return openDir(ctx, unix.AT_FDCWD, path, path)
}

// ReadDir returns the entries of a directory; see [OpenDir] and [Dir.Names].
func ReadDir(ctx context.Context, path string) ([]DirEntry, error) {
	d, err := OpenDir(ctx, path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Entries()
}

// OpenDir opens a directory below this one, as [OpenDir] does.
func (d *Dir) OpenDir(name string) (*Dir, error) { return openDir(d.ctx, d.fd, name, d.path+"/"+name) }

// openDir is OpenDir of a name in an open directory; path is what the directory is called.
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

// Path is the path it was opened by.
func (d *Dir) Path() string { return d.path }

// Close closes the directory.
func (d *Dir) Close() error { return unix.Close(d.fd) }

// Entries returns all entries in directory order; Type tells files from folders without a stat, except on file
// systems that do not say (then it is asked for). Those before an error are returned with it.
func (d *Dir) Entries() (names []DirEntry, err error) {
	for n, err := range d.AllEntries(nil) {
		if err != nil {
			return names, err
		}
		names = append(names, n)
	}
	return names, nil
}

// AllEntries is Names one by one, for one who works in s and goes through many directories; an error is the last.
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

// Stat states a regular file of the directory, or of a folder below it; anything else is [ErrNotRegular].
func (d *Dir) Stat(name string) (FileInfo, error) {
	var st unix.Stat_t
	err := unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW)
	switch {
	case IsNotExist(err):
		return FileInfo{}, err // nobody is told where, and it is asked of a thousand folders
	case err == nil && st.Mode&unix.S_IFMT != unix.S_IFREG:
		err = ErrNotRegular
	case err == nil:
		return FileInfo{Size: st.Size, ModTime: modTime(&st)}, nil
	}
	return FileInfo{}, &fs.PathError{Op: "stat", Path: d.path + "/" + name, Err: err}
}

// StatEntry is Stat of a regular file that the directory lists; where nobody asks for its time and size, what the listing says
// of it is enough.
func (d *Dir) StatEntry(n DirEntry, timed bool) (FileInfo, error) {
	if !timed && n.mode.IsRegular() {
		return FileInfo{}, nil
	}
	return d.Stat(n.name)
}

// explainNotExist tells why there is nothing at path: [ErrDangling] if a link on the way to it is the reason, else err.
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

// EvalSymlinks is [filepath.EvalSymlinks] with the errors of this package: [ErrBrokenLink], and [ErrEscapes] where a link leads out
// of the root that ctx confines the path to; see [Confine]. One of a root's Files is returned as it is.
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

// WithoutPath is err without the path of the file that it is about, for a message that names it already.
func WithoutPath(path string, err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok && p.Path == path && errors.Is(p, err) { // itself, not wrapped in more words
		return p.Err
	}
	return err
}

// IsNotExist reports whether err says that there is nothing of that name, which is no fault of a store: agents make
// their folders when they need them, and files vanish while one looks.
func IsNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist)
}
