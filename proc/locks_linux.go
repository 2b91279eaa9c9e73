package proc

import (
	"bytes"
	"strconv"
)

// readLocks reads the locks of all processes that are visible here. What cannot be read is left out: locks are a hint where to look.
func (f *procfs) readLocks() []fileLock {
	raw, _ := pidDir(f.root + "/").read("locks")
	return parseLocks(raw)
}

// parseLocks parses /proc/locks, proc_locks(5): "1: FLOCK  ADVISORY  WRITE 12783 fe:00:10225579 0 EOF". A line with "->" is of a
// process that waits for a lock.
func parseLocks(raw []byte) (locks []fileLock) {
	for line := range bytes.Lines(raw) {
		f := bytes.Fields(line)
		if len(f) < 6 || string(f[1]) == "->" {
			continue
		}
		pid, err := strconv.Atoi(string(f[4]))
		inode, err2 := strconv.ParseUint(string(f[5][bytes.LastIndexByte(f[5], ':')+1:]), 10, 64)
		if err == nil && err2 == nil && pid > 0 {
			locks = append(locks, fileLock{pid, inode})
		}
	}
	return locks
}

// openFileNames returns the names of what the process has open; nil if they may not be read.
func (d pidDir) openFileNames() []string {
	fds, err := d.listNumbers("fd")
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(fds))
	for _, fd := range fds {
		if name, err := d.readlink("fd/" + strconv.Itoa(fd)); err == nil {
			names = append(names, name)
		}
	}
	return names
}

// firstArg returns the first argument; "" if it may not be read.
func (d pidDir) firstArg() string {
	f, err := d.open("cmdline")
	if err != nil {
		return ""
	}
	defer f.Close()
	var buf [4096]byte // more than the longest path
	n, _ := f.Read(buf[:])
	arg, _, _ := bytes.Cut(buf[:n], []byte{0})
	return string(arg)
}
