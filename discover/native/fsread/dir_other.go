//go:build !linux

package fsread

import (
	"os"

	"golang.org/x/sys/unix"
)

// readEntries reads a copy of the open directory, so that the directory stays open when the copy is closed.
func (d *Dir) readEntries(_ *[]byte, yield func(DirEntry, error) bool) {
	fd, err := unix.FcntlInt(uintptr(d.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		yield(DirEntry{}, err)
		return
	}
	file := os.NewFile(uintptr(fd), d.path)
	defer file.Close()
	entries, err := file.ReadDir(-1)
	for _, e := range entries {
		if !yield(DirEntry{e.Name(), e.Type()}, nil) {
			return
		}
	}
	if err != nil {
		yield(DirEntry{}, err)
	}
}
