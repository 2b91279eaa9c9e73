//go:build !linux

package native

import (
	"os"

	"golang.org/x/sys/unix"
)

// readNames lists a copy of the open directory, so that closing it leaves the directory open.
func (d *Dir) readNames() ([]Name, error) {
	fd, err := unix.FcntlInt(uintptr(d.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	file := os.NewFile(uintptr(fd), d.path)
	defer file.Close()
	entries, err := file.ReadDir(-1)
	names := make([]Name, len(entries))
	for i, e := range entries {
		names[i] = Name{e.Name(), e.Type()}
	}
	return names, err
}
