package launch

import (
	"os"

	"golang.org/x/sys/unix"
)

// AnonymousFile makes a file without a name, readable and writable, which is gone when nobody has it open any more: there is
// nothing to leave behind at any moment. It lies in the folder for temporary files, or where the file system there
// cannot do so, in memory (memfd_create(2), Linux 3.17).
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
