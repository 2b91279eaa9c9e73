package fsread

import (
	"io/fs"

	"golang.org/x/sys/unix"
)

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
	var st unix.Stat_t
	_, err := retry(func() (int, error) { return 0, unix.Fstatat(d.fd, name, &st, unix.AT_SYMLINK_NOFOLLOW) })
	if err != nil {
		return FileUsage{}, &fs.PathError{Op: "stat", Path: d.path + "/" + name, Err: err}
	}
	return FileUsage{Bytes: int64(st.Blocks) * block, Device: uint64(st.Dev), Inode: uint64(st.Ino), Links: uint64(st.Nlink)}, nil
}
