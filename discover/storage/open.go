// Package storage reads what other programs write: transcripts, git's files, configuration. It is the one place where such a file is
// opened. It knows no agent.
//
// A file is opened only if it is a regular file, and that is known before it is opened: opening a FIFO waits for a
// writer, and opening a device can have an effect (a pseudo-terminal is made, a tape is rewound). What the kernel makes when
// it is read, as in /proc, is no regular file here, whatever its mode says. Every read has a bound in bytes, and a read that
// can wait ends with its context.
//
// [File] reads lines from either end of a file, [Object] the JSON objects of such lines, [ReadDir] lists a directory, [DiskTree] adds up what
// files take on disk, and [ReadParallel] reads many files on several goroutines.
package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrNotRegular is returned, without opening the file, for a FIFO, device, socket or directory instead of a regular file,
// and for a symbolic link where links are not followed.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge is returned for content of more bytes than its reader accepts.
var ErrTooLarge = errors.New("larger than expected")

// Links says whether a symbolic link in the last element of a path is followed. Links on the way to it are always
// followed.
type Links uint8

// The kinds of Links.
const (
	NoFollow Links = iota
	Follow
	// FollowOwn follows a link to a file of the same name, as one that was moved to another disk, if it belongs to the owner of its directory.
	// It follows none beneath a root; see [Confine].
	FollowOwn
)

// followsOwn reports whether FollowOwn follows a path, of which lstat returned info.
func followsOwn(ctx context.Context, path string, info fs.FileInfo) bool {
	if _, confined := Confined(ctx, path); confined || info.Mode().Type() != fs.ModeSymlink {
		return false
	}
	if real, err := filepath.EvalSymlinks(path); err == nil && filepath.Base(real) != filepath.Base(path) {
		return false
	}
	dir, err := os.Stat(filepath.Dir(path))
	if err != nil {
		return false
	}
	link, _ := info.Sys().(*syscall.Stat_t)
	of, _ := dir.Sys().(*syscall.Stat_t)
	return link.Uid == of.Uid
}

// ErrEscapes is returned for a path that a link leads out of the directory that it must stay in. An absolute link always
// does.
var ErrEscapes = errors.New("a link leads out of the home, which only a process names")

// OpenFile opens the regular file at path for reading, beneath the root that ctx confines the path to; see [Confine]. It never blocks.
// Errors are [fs.PathError]s: [ErrNotRegular], [ErrEscapes] and those of the system.
//
// The type is checked before and after the open, since another process can replace the file in between. Another regular
// file is accepted, since writers rename new versions over old ones. Anything else is closed unread; O_NONBLOCK and
// O_NOCTTY keep even that open from blocking or from acquiring a terminal.
func OpenFile(ctx context.Context, path string, links Links) (*os.File, fs.FileInfo, error) {
	d, name, err := directoryOf(ctx, path)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	defer d.close()
	f, info, err := d.openRegular(ctx, name, path, links)
	if err != nil {
		return nil, nil, openError(path, err)
	}
	return f, info, nil
}

// directory is how names are opened: anywhere, or beneath an [os.Root].
type directory struct {
	lstat, stat func(string) (fs.FileInfo, error)
	open        func(string, int, fs.FileMode) (*os.File, error)
	close       func()
}

// directoryOf returns the directory that ctx confines a path to, to be closed, and the name of the path in it; see [Confine].
func directoryOf(ctx context.Context, path string) (d directory, name string, err error) {
	place, ok := Confined(ctx, path)
	if !ok {
		return directory{os.Lstat, os.Stat, os.OpenFile, func() {}}, path, nil
	}
	root, err := os.OpenRoot(place.Root)
	if err != nil {
		return d, "", err
	}
	return directory{root.Lstat, root.Stat, root.OpenFile, func() { _ = root.Close() }}, place.Name, nil
}

func (d directory) openRegular(ctx context.Context, name, path string, links Links) (*os.File, fs.FileInfo, error) {
	flags := os.O_RDONLY | unix.O_NONBLOCK | unix.O_NOCTTY
	info, err := d.lstat(name)
	if links == Follow || err == nil && links == FollowOwn && followsOwn(ctx, path, info) {
		info, err = d.stat(name)
	} else {
		flags |= unix.O_NOFOLLOW
	}
	if err != nil {
		return nil, nil, err
	}
	if !info.Mode().IsRegular() || inPseudoFS(path, info) {
		return nil, nil, ErrNotRegular
	}
	f, err := d.open(name, flags, 0)
	if errors.Is(err, unix.ELOOP) || errors.Is(err, unix.ENXIO) {
		err = ErrNotRegular
	}
	if err != nil {
		return nil, nil, err
	}
	info, err = f.Stat()
	if err == nil && (!info.Mode().IsRegular() || inPseudoFS(path, info)) {
		err = ErrNotRegular
	}
	if err != nil {
		_ = f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

// openError returns the error of opening path.
func openError(path string, err error) error {
	return &fs.PathError{Op: "open", Path: path, Err: cause(err)}
}

// cause returns the cause of an error of package os: an errno, [ErrNotRegular], or [ErrEscapes] of an [os.Root].
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	_, ofSystem := errors.AsType[syscall.Errno](err)
	switch {
	case ofSystem, errors.Is(err, fs.ErrNotExist), errors.Is(err, fs.ErrInvalid), errors.Is(err, ErrNotRegular):
		return err
	}
	return ErrEscapes
}

// ReadFile returns the content of the regular file at path, which has at most limit bytes. Links are followed. Errors,
// [ErrNotRegular] and [ErrTooLarge] included, are [fs.PathError]s.
func ReadFile(path string, limit int64) ([]byte, error) {
	data, _, err := readFile(context.Background(), path, limit, Follow)
	return data, err
}

// ReadFileNoFollow is [ReadFile] for a path whose last element must not be a link.
func ReadFileNoFollow(path string, limit int64) ([]byte, error) {
	data, _, err := readFile(context.Background(), path, limit, NoFollow)
	return data, err
}

// readFile returns the content of a file, and its modification time when it was opened.
func readFile(ctx context.Context, path string, limit int64, links Links) (data []byte, modified time.Time, err error) {
	f, info, err := OpenFile(ctx, path, links)
	if err != nil {
		return nil, time.Time{}, err
	}
	defer f.Close()
	if info.Size() > limit {
		err = tooLarge(limit)
	} else {
		data, err = ReadAll(f, limit)
	}
	if err != nil {
		err = &fs.PathError{Op: "read", Path: path, Err: WithoutPath(path, err)}
	}
	return data, info.ModTime(), err
}

// ReadHead returns the first n bytes, or fewer, of the regular file at path. Links are followed.
func ReadHead(path string, n int) ([]byte, error) {
	f, err := OpenLink(context.Background(), path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.NewSectionReader(f, 0, int64(n)))
}

// OpenDirFile opens the directory at path as an [os.File], for example to lock it. Links are followed. With O_DIRECTORY
// the system opens nothing else; the error is ENOTDIR then.
func OpenDirFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
}

func tooLarge(limit int64) error { return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit) }

// File is a regular file opened for reading. Its size is the size at the moment of opening: what is appended later is not
// read.
type File struct {
	ctx     context.Context // a file is read within one call
	path    string
	file    *os.File // nil: the file is in memory
	info    fs.FileInfo
	size    int64
	mod     time.Time
	content []byte // of a file in memory
	release func() // releases large memory; nil: none is held
	counted int64  // bytes that were read to name lines
}

// Open opens a regular file. Of links in the last element, it follows those of [FollowOwn]. It does not block and creates nothing. Reads
// of the file fail when ctx ends. The file is opened beneath the root that ctx confines the path to; see [Confine].
func Open(ctx context.Context, path string) (*File, error) { return open(ctx, path, FollowOwn) }

// OpenLink is [Open] for a path whose last element may be a link, such as /proc/PID/fd/N.
func OpenLink(ctx context.Context, path string) (*File, error) { return open(ctx, path, Follow) }

func open(ctx context.Context, path string, links Links) (*File, error) {
	f, info, err := OpenFile(ctx, path, links)
	if err != nil {
		return nil, err
	}
	return &File{ctx: ctx, path: path, file: f, info: info, size: info.Size(), mod: info.ModTime().UTC()}, nil
}

// Context returns the context that reads of the file end with.
func (f *File) Context() context.Context { return f.ctx }

// Path returns the path that the file was opened by.
func (f *File) Path() string { return f.path }

// SameFile reports whether f and g are one file, by device and inode.
func (f *File) SameFile(g *File) bool { return os.SameFile(f.info, g.info) }

// Size returns the file's size in bytes when it was opened.
func (f *File) Size() int64 { return f.size }

// ModTime returns the file's modification time when it was opened, UTC.
func (f *File) ModTime() time.Time { return f.mod }

// Close closes the file, and releases the large memory that it holds; see [File.AcquireLarge].
func (f *File) Close() error {
	if f.release != nil {
		f.release()
	}
	if f.file == nil {
		return nil
	}
	return f.file.Close()
}

// NewMemoryFile returns a file with this content, which is read without system calls.
func NewMemoryFile(path string, data []byte, mod time.Time) *File {
	return &File{ctx: context.Background(), path: path, size: int64(len(data)), mod: mod, content: data}
}

// WithContent returns a file like f with another content, such as the uncompressed one. Closing it calls release and
// leaves f open.
func (f *File) WithContent(content []byte, release func()) *File {
	with := NewMemoryFile(f.path, content, f.mod)
	with.ctx, with.release = f.ctx, release
	return with
}

// Head returns the file as if it ended after n bytes. It shares the open file of f: close f only.
func (f *File) Head(n int64) *File {
	head := *f
	head.size = max(min(n, f.size), 0)
	return &head
}

// ReadAt implements io.ReaderAt. If the file has shrunk meanwhile, it returns io.EOF early.
func (f *File) ReadAt(p []byte, off int64) (int, error) {
	if err := f.ctx.Err(); err != nil {
		return 0, err
	}
	if f.file != nil {
		return f.file.ReadAt(p, off)
	}
	n := copy(p, f.content[min(off, int64(len(f.content))):])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
