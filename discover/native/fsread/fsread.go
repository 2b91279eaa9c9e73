// Package fsread opens and reads files whose content, and whose very kind, other processes decide: transcripts, git's
// files, configuration. It is the one place where such a file is opened.
//
// A file is opened only if it is a regular file, and that is known before it is opened: opening a FIFO waits for a
// writer, and opening a device can have an effect (a pseudo-terminal is made, a tape is rewound). What the kernel makes when
// it is read, as in /proc, is no regular file here, whatever its mode says. Every read has a bound in bytes, and a read that
// can wait ends with its context.
//
// [File] reads lines from either end of a file, [Dir] lists a directory with few system calls, and [ReadParallel] reads many files
// on several goroutines, each with its own [Buffers].
package fsread

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// ErrNotRegular is returned for a FIFO, device, socket or directory where a file should be, and for a symbolic link
// where links are not followed. It is not opened.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge is returned for content that has more bytes than its reader takes.
var ErrTooLarge = errors.New("larger than expected")

// Links says what becomes of a symbolic link as the last element of a path. Those on the way to it are followed.
type Links bool

// The two kinds of Links.
const (
	NoFollow Links = false
	Follow   Links = true
)

// OpenAt opens the regular file of a name in an open directory (unix.AT_FDCWD: the current one) for reading, and returns
// its state. It never blocks. Errors are [ErrNotRegular] and the system's, without a path.
//
// The type is asked for before and after: in between, another process can replace the file. A regular file in its place
// is as good, as when a writer renames a new version over the old one. Anything else is closed unread; O_NONBLOCK and
// O_NOCTTY keep even that open from waiting or from taking a terminal.
func OpenAt(dir int, name string, links Links) (fd int, st unix.Stat_t, err error) {
	at, flags := unix.AT_SYMLINK_NOFOLLOW, unix.O_NOFOLLOW
	if links == Follow {
		at, flags = 0, 0
	}
	if err := unix.Fstatat(dir, name, &st, at); err != nil {
		return -1, st, err
	}
	if !regular(&st) || inPseudoFSAt(dir, name, flags, &st) {
		return -1, st, ErrNotRegular
	}
	for {
		fd, err = unix.Openat(dir, name, unix.O_RDONLY|unix.O_CLOEXEC|unix.O_NONBLOCK|unix.O_NOCTTY|flags, 0)
		if !errors.Is(err, unix.EINTR) {
			break
		}
	}
	switch {
	case errors.Is(err, unix.ELOOP), errors.Is(err, unix.ENXIO):
		return -1, st, ErrNotRegular
	case err != nil:
		return -1, st, err
	}
	if err = unix.Fstat(fd, &st); err == nil && (!regular(&st) || inPseudoFS(fd, &st)) {
		err = ErrNotRegular
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, st, err
	}
	return fd, st, nil
}

func regular(st *unix.Stat_t) bool { return st.Mode&unix.S_IFMT == unix.S_IFREG }

// ReadFile returns the content of the regular file at path, which has at most limit bytes. Links are followed. Errors are
// [fs.PathError]s, of [ErrNotRegular] and [ErrTooLarge] too.
func ReadFile(path string, limit int64) ([]byte, error) {
	fd, st, err := OpenAt(unix.AT_FDCWD, path, Follow)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	if st.Size > limit {
		return nil, &fs.PathError{Op: "read", Path: path, Err: tooLarge(limit)}
	}
	data, err := ReadAll(fdReader(fd), limit)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return data, nil
}

// ReadHead returns the first bytes of the regular file at path, at most n of them. Links are followed.
func ReadHead(path string, n int) ([]byte, error) {
	fd, _, err := OpenAt(unix.AT_FDCWD, path, Follow)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	defer unix.Close(fd)
	data, err := io.ReadAll(io.LimitReader(fdReader(fd), int64(n)))
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: path, Err: err}
	}
	return data, nil
}

// OpenDirFile opens the directory at path, as to lock it. Links are followed. With O_DIRECTORY, the system opens nothing else:
// the error is ENOTDIR then.
func OpenDirFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
}

func tooLarge(limit int64) error { return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit) }
