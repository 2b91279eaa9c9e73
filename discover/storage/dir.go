package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Dir is an open directory.
type Dir struct {
	ctx  context.Context // of the call that opened it
	path string
	file *os.File
}

// FileInfo is what [Dir.Stat] returns of a file.
type FileInfo struct {
	Size    int64 // bytes
	ModTime time.Time
}

// ErrBrokenLink is returned for a link whose target does not exist, such as one to a disk that is not mounted.
// [IsNotExist] is false for it, since the target may exist later.
var ErrBrokenLink = errors.New("a symbolic link is broken")

// OpenDir opens a directory. Links are followed, since people link ~/.claude to other disks, but not out of the root that
// ctx confines the path to; see [Confine].
func OpenDir(ctx context.Context, path string) (*Dir, error) {
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
	return &Dir{ctx, path, f}, nil
}

// ReadDir returns the entries of a directory; see [OpenDir] and [Dir.Entries].
func ReadDir(ctx context.Context, path string) ([]fs.DirEntry, error) {
	d, err := OpenDir(ctx, path)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.Entries()
}

// OpenDir opens a directory below this one, as the function [OpenDir] does.
func (d *Dir) OpenDir(name string) (*Dir, error) { return OpenDir(d.ctx, d.path+"/"+name) }

// Path returns the path that the directory was opened by.
func (d *Dir) Path() string { return d.path }

// Close closes the directory.
func (d *Dir) Close() error { return d.file.Close() }

// maxEntries is the most entries of a directory that are read.
const maxEntries = 1 << 18

// Entries returns the entries in directory order. The entries before an error are returned with it; it is [ErrTooLarge] if there are
// more than 262,143.
func (d *Dir) Entries() ([]fs.DirEntry, error) {
	entries, err := d.file.ReadDir(maxEntries)
	if errors.Is(err, io.EOF) { // it is empty
		err = nil
	}
	if len(entries) == maxEntries {
		err = ErrTooLarge
	}
	if err != nil {
		err = &fs.PathError{Op: "list", Path: d.path, Err: WithoutPath(d.path, err)}
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

// Stat states a regular file of the directory, or of a directory below it; see [Stat].
func (d *Dir) Stat(name string) (FileInfo, error) { return Stat(d.ctx, d.path+"/"+name) }

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

// FileUsage is what a file of any type takes on disk.
type FileUsage struct {
	// Bytes are allocated; a sparse file has fewer than its size.
	Bytes int64
	// Device and Inode identify it. Links is the number of its names.
	Device, Inode, Links uint64
}

// Usage states an entry of the directory, without following a link; "." is the directory itself.
func (d *Dir) Usage(name string) (FileUsage, error) {
	const block = 512 // bytes, whatever the file system's own block size
	state := func() (fs.FileInfo, error) { return lstat(d.ctx, d.path+"/"+name) }
	if name == "." {
		state = d.file.Stat
	}
	info, err := state()
	if err != nil {
		return FileUsage{}, err
	}
	st, _ := info.Sys().(*syscall.Stat_t)
	return FileUsage{Bytes: int64(st.Blocks) * block, Device: uint64(st.Dev), Inode: uint64(st.Ino), Links: uint64(st.Nlink)}, nil
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
