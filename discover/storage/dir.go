package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/sys/unix"
)

// FileInfo is what [Stat] returns of a file.
type FileInfo struct {
	Size    int64 // bytes
	ModTime time.Time
}

// ErrBrokenLink is returned for a link whose target does not exist, such as one to a disk that is not mounted.
// [IsNotExist] is false for it, since the target may exist later.
var ErrBrokenLink = errors.New("a symbolic link is broken")

// maxEntries is the most entries of a directory that are read.
const maxEntries = 1 << 18

// CheckDir returns nil for a directory that can be opened. Links are followed, since people link ~/.claude to other disks, but not out of
// the root that ctx confines the path to; see [Confine].
func CheckDir(ctx context.Context, path string) error {
	d, err := openDir(ctx, path)
	if err == nil {
		_ = d.Close()
	}
	return err
}

func openDir(ctx context.Context, path string) (*os.File, error) {
	const flags = os.O_RDONLY | unix.O_DIRECTORY | unix.O_NONBLOCK
	root, name, err := directoryOf(ctx, path)
	if err != nil {
		return nil, openError(path, err)
	}
	defer root.close()
	f, err := root.open(name, flags, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: explainNotExist(path, cause(err))}
	}
	return f, nil
}

// ReadDir returns the entries of a directory in directory order. It follows the links that [CheckDir] follows. The entries before an error
// are returned with it; it is [ErrTooLarge] if there are more than 262,143.
func ReadDir(ctx context.Context, path string) ([]fs.DirEntry, error) {
	d, err := openDir(ctx, path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return entriesOf(d, path)
}

// entriesOf is [ReadDir] of an open directory.
func entriesOf(d *os.File, path string) ([]fs.DirEntry, error) {
	entries, err := d.ReadDir(maxEntries)
	if errors.Is(err, io.EOF) { // it is empty
		err = nil
	}
	if len(entries) == maxEntries {
		err = ErrTooLarge
	}
	if err != nil {
		err = &fs.PathError{Op: "list", Path: path, Err: WithoutPath(path, err)}
	}
	return entries, err
}

// lstat states a file without following a link in its last element.
func lstat(ctx context.Context, path string) (fs.FileInfo, error) {
	root, name, err := directoryOf(ctx, path)
	if err != nil {
		return nil, err
	}
	defer root.close()
	return root.lstat(name)
}

// Stat states a regular file, to which a link may lead that [FollowOwn] follows; anything else is [ErrNotRegular].
func Stat(ctx context.Context, path string) (FileInfo, error) {
	info, err := lstat(ctx, path)
	if err == nil && followsOwn(ctx, path, info) {
		if info, err = os.Stat(path); err != nil {
			return FileInfo{}, &fs.PathError{Op: "stat", Path: path, Err: explainNotExist(path, cause(err))}
		}
	}
	if err != nil { // beneath a root, the system's names only what is below it
		return FileInfo{}, &fs.PathError{Op: "stat", Path: path, Err: cause(err)}
	}
	if !info.Mode().IsRegular() {
		return FileInfo{}, &fs.PathError{Op: "stat", Path: path, Err: ErrNotRegular}
	}
	return FileInfo{Size: info.Size(), ModTime: info.ModTime().UTC()}, nil
}

// IsDir reports whether a path leads to a directory.
func IsDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
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

// Cause returns the cause of an error about a file, whatever its path; any other error itself.
func Cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	return err
}

// IsNotExist reports whether err is fs.ErrNotExist. That is no fault of a store: agents create their directories when
// they need them, and files are removed while others read.
func IsNotExist(err error) bool {
	return errors.Is(err, fs.ErrNotExist)
}
