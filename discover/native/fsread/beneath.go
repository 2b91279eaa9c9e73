package fsread

import (
	"errors"
	"io/fs"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// ErrEscapes is returned for a path that a link leads out of the directory that it must stay in. An absolute link always
// does.
var ErrEscapes = errors.New("a link leads out of the home, which only a process names")

// OpenBeneath is [OpenAt] for a name below the directory root. It fails with [ErrEscapes] if a link on the way, or in
// place of the file, leads out of root at the moment of the open: there is no time between a check and the open to create
// a link in. Links on the way to root itself are followed.
func OpenBeneath(root, name string, links Links) (fd int, st unix.Stat_t, err error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return -1, st, beneathError(err)
	}
	defer r.Close()
	state := r.Lstat
	if links == Follow {
		state = r.Stat
	}
	info, err := state(name)
	if err != nil {
		return -1, st, beneathError(err)
	}
	if !info.Mode().IsRegular() {
		return -1, st, ErrNotRegular
	}
	if fd, err = openBeneath(r, name, unix.O_NONBLOCK|unix.O_NOCTTY); err != nil {
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

// OpenDirBeneath opens a directory for listing, as [OpenBeneath] opens a file. The name "." is root itself.
func OpenDirBeneath(root, name string) (fd int, err error) {
	r, err := os.OpenRoot(root)
	if err != nil {
		return -1, beneathError(err)
	}
	defer r.Close()
	return openBeneath(r, name, unix.O_DIRECTORY|unix.O_NONBLOCK)
}

// openBeneath opens a name for reading and returns a descriptor that the garbage collector does not close.
func openBeneath(r *os.Root, name string, flags int) (fd int, err error) {
	f, err := r.OpenFile(name, os.O_RDONLY|flags, 0)
	if err != nil {
		return -1, beneathError(err)
	}
	defer f.Close()
	fd, err = unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	return fd, nil
}

// beneathError returns the cause of an error of an [os.Root], without a path: [ErrEscapes] if the cause is not an errno.
func beneathError(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		err = p.Err
	}
	switch {
	case errors.Is(err, unix.ENXIO):
		return ErrNotRegular
	case isErrno(err):
		return err
	}
	return ErrEscapes
}

func isErrno(err error) bool {
	_, ok := errors.AsType[syscall.Errno](err)
	return ok || errors.Is(err, fs.ErrNotExist)
}
