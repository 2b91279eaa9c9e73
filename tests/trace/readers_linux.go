//go:build linux && (amd64 || arm64)

package trace

import "golang.org/x/sys/unix"

// readers change nothing; they are named because the tests count them.
func readers() map[uint64]spec {
	onFD := map[uint64]string{
		unix.SYS_READ: "read", unix.SYS_PREAD64: "pread64", unix.SYS_READV: "readv", unix.SYS_PREADV: "preadv",
		unix.SYS_PREADV2: "preadv2", unix.SYS_CLOSE: "close", unix.SYS_FSTAT: "fstat", unix.SYS_LSEEK: "lseek",
		unix.SYS_GETDENTS64: "getdents64", unix.SYS_FSTATFS: "fstatfs", unix.SYS_FADVISE64: "fadvise64",
		unix.SYS_FCHDIR: "fchdir", unix.SYS_FSYNC: "fsync", unix.SYS_FDATASYNC: "fdatasync",
	}
	onAt := map[uint64]string{
		unix.SYS_STATX: "statx", unix.SYS_FACCESSAT: "faccessat", unix.SYS_FACCESSAT2: "faccessat2",
		unix.SYS_READLINKAT: "readlinkat", sysNewfstatat: "newfstatat", unix.SYS_EXECVEAT: "execveat",
	}
	onPath := map[uint64]string{unix.SYS_STATFS: "statfs", unix.SYS_CHDIR: "chdir"}
	all := map[uint64]spec{}
	for nr, name := range onFD {
		all[nr] = spec{name: name, path: fd(0)}
	}
	for nr, name := range onAt {
		all[nr] = spec{name: name, path: at(0)}
	}
	for nr, name := range onPath {
		all[nr] = spec{name: name, path: path(0)}
	}
	return all
}
