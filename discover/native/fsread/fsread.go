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

// ErrNotRegular is returned, without opening the file, for a FIFO, device, socket or directory instead of a regular file,
// and for a symbolic link where links are not followed.
var ErrNotRegular = errors.New("not a regular file")

// ErrTooLarge is returned for content of more bytes than its reader accepts.
var ErrTooLarge = errors.New("larger than expected")

// Links says whether a symbolic link in the last element of a path is followed. Links on the way to it are always
// followed.
type Links bool

// The two kinds of Links.
const (
	NoFollow Links = false
	Follow   Links = true
)

// OpenAt opens the regular file of a name in an open directory (unix.AT_FDCWD: the current one) for reading, and returns
// its state. It never blocks. Errors are [ErrNotRegular] and those of the system, without a path.
//
// The type is checked before and after the open, since another process can replace the file in between. Another regular
// file is accepted, since writers rename new versions over old ones. Anything else is closed unread; O_NONBLOCK and
// O_NOCTTY keep even that open from blocking or from acquiring a terminal.
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

// ReadFile returns the content of the regular file at path, which has at most limit bytes. Links are followed. Errors,
// [ErrNotRegular] and [ErrTooLarge] included, are [fs.PathError]s.
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

// ReadHead returns the first n bytes, or fewer, of the regular file at path. Links are followed.
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

// OpenDirFile opens the directory at path as an [os.File], for example to lock it. Links are followed. With O_DIRECTORY
// the system opens nothing else; the error is ENOTDIR then.
func OpenDirFile(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
}

func tooLarge(limit int64) error { return fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit) }
