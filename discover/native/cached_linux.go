//go:build amd64 || arm64

package native

import (
	"bytes"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// resolveCached is RESOLVE_CACHED of openat2(2), Linux 5.12: fail with EAGAIN unless the whole path is in memory and no server
// has to confirm it.
const resolveCached = 0x20

// openCached is openat(2) of a path that is in memory.
func openCached(dir int, name string, flags int) (int, error) {
	path, err := unix.BytePtrFromString(name)
	if err != nil {
		return -1, err
	}
	how := unix.OpenHow{Flags: uint64(flags), Resolve: resolveCached}
	fd, _, errno := unix.RawSyscall6(unix.SYS_OPENAT2, uintptr(dir), uintptr(unsafe.Pointer(path)),
		uintptr(unsafe.Pointer(&how)), unsafe.Sizeof(how), 0, 0)
	return int(fd), failure(errno)
}

// statCached is fstat(2) of a file whose inode is in memory, as that of an open one is where no server keeps it.
func statCached(fd int, st *unix.Stat_t) error {
	_, _, errno := unix.RawSyscall(unix.SYS_FSTAT, uintptr(fd), uintptr(unsafe.Pointer(st)), 0)
	return failure(errno)
}

// preadCached is pread(2) of the pages that are in memory: EAGAIN without the first, EOPNOTSUPP where the file system has no
// such reads.
func preadCached(fd int, p []byte, off int64) (int, error) {
	piece := unix.Iovec{Base: unsafe.SliceData(p)}
	piece.SetLen(len(p))
	n, _, errno := unix.RawSyscall6(unix.SYS_PREADV2, uintptr(fd), uintptr(unsafe.Pointer(&piece)), 1, uintptr(off), 0,
		unix.RWF_NOWAIT)
	return int(n), failure(errno)
}

// closeCached is close(2) of a file that was only read, for which nothing is waited where no server keeps it.
func closeCached(fd int) error {
	_, _, errno := unix.RawSyscall(unix.SYS_CLOSE, uintptr(fd), 0, 0)
	return failure(errno)
}

// failure is the error of a raw call; Go's own nil if there is none.
func failure(errno syscall.Errno) error {
	if errno == 0 {
		return nil
	}
	return errno
}

// statAt is fstatat(2) of a path with a zero byte at its end, for which no copy of the path is made. It may wait.
func statAt(dir int, path []byte, st *unix.Stat_t) error {
	if bytes.IndexByte(path, 0) != len(path)-1 {
		return unix.EINVAL // the system would take it for a shorter one
	}
	_, _, errno := unix.Syscall6(unix.SYS_NEWFSTATAT, uintptr(dir), uintptr(unsafe.Pointer(unsafe.SliceData(path))),
		uintptr(unsafe.Pointer(st)), unix.AT_SYMLINK_NOFOLLOW, 0, 0)
	return failure(errno)
}
