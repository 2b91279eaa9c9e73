package proc

import (
	"io/fs"
	"os"
	"slices"
	"syscall"
)

// fileLock is a lock on a file, and the process that took it.
type fileLock struct {
	pid   int
	inode uint64
}

// LockHolders returns the pids of the processes that may hold a lock on one of the files, of whatever kind it is. It opens none of
// the files. It compares inodes only, since the kernel does not name the device of a lock as stat(2) does on every file system:
// look at what the process has open. A lock that was taken by a process which has ended, and left to another one, is not found.
// The result is empty on systems that do not list their locks.
func (t *Table) LockHolders(files ...string) (pids []int) {
	locks := t.locks()
	if len(locks) == 0 {
		return nil
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		inode, ok := inodeOf(info)
		for _, l := range locks {
			if ok && l.inode == inode && !slices.Contains(pids, l.pid) {
				pids = append(pids, l.pid)
			}
		}
	}
	return pids
}

func inodeOf(info fs.FileInfo) (uint64, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Ino, true
}
