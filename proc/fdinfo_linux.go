package proc

import (
	"bytes"
	"errors"
	"strconv"

	"golang.org/x/sys/unix"
)

// fdinfo is the part of /proc/PID/fdinfo/FD, proc_pid_fdinfo(5), that this package uses.
type fdinfo struct {
	offset                  int64
	writable                bool
	writeLocked, readLocked bool
}

func parseFdinfo(raw []byte) (fdinfo, error) {
	var info fdinfo
	var offset, flags bool
	for line := range bytes.Lines(raw) {
		key, value, _ := bytes.Cut(line, []byte{':'})
		switch value = bytes.TrimSpace(value); string(key) {
		case "pos":
			n, err := strconv.ParseInt(string(value), 10, 64)
			info.offset, offset = n, err == nil
		case "flags":
			n, err := strconv.ParseUint(string(value), 8, 64)
			info.writable, flags = n&unix.O_ACCMODE != unix.O_RDONLY, err == nil
		case "lock":
			kind := flockKind(value)
			info.writeLocked, info.readLocked = info.writeLocked || kind == "WRITE", info.readLocked || kind == "READ"
		}
	}
	if !offset || !flags {
		return fdinfo{}, errors.New("no position or flags in it")
	}
	return info, nil
}

// flockKind parses a line as in /proc/locks: "1: FLOCK  ADVISORY  WRITE 12783 fe:00:10225579 0 EOF". It returns "" for
// other kinds of locks. The kernel lists the locks of an open file under that file only, so the pid does not matter: it
// is that of the process that took the lock, which may have died and left the open file to this one.
func flockKind(lock []byte) string {
	f := bytes.Fields(lock)
	if len(f) > 3 && string(f[1]) == "FLOCK" {
		return string(f[3])
	}
	return ""
}
