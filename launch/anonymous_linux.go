package launch

import (
	"os"

	"golang.org/x/sys/unix"
)

// AnonymousFile makes an unnamed file, readable and writable. The kernel removes it when no process has it open, so that
// nothing is left behind at any moment. It is in the folder for temporary files, or in memory (memfd_create(2), Linux 3.17)
// if the file system there has no unnamed files.
func AnonymousFile(what string) (*os.File, error) {
	flags := unix.O_TMPFILE | unix.O_EXCL | unix.O_RDWR | unix.O_APPEND | unix.O_CLOEXEC
	fd, err := unix.Open(os.TempDir(), flags, 0o600)
	if err != nil {
		if fd, err = unix.MemfdCreate("agent-"+what, unix.MFD_CLOEXEC); err != nil {
			return nil, &os.PathError{Op: "memfd_create", Path: what, Err: err}
		}
	}
	return os.NewFile(uintptr(fd), what), nil
}
