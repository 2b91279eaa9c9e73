//go:build linux && (amd64 || arm64)

package trace

import (
	"encoding/binary"
	"fmt"
	"maps"
	"os"

	"golang.org/x/sys/unix"
)

// spec says how to read the arguments of one system call.
type spec struct {
	name   string
	path   place
	to     place
	effect func(*entry) Effect
}

// place is where a call names a file: how, and in which argument.
type place struct {
	how how
	arg int
}

type how uint8

const (
	nowhere how = iota
	asFD        // a descriptor
	asPath      // a path, relative to the working directory
	asAt        // a directory's descriptor, and a path in the next argument
)

func fd(arg int) place   { return place{asFD, arg} }
func path(arg int) place { return place{asPath, arg} }
func at(arg int) place   { return place{asAt, arg} }

// entry is a call that has not returned yet.
type entry struct {
	call  Call
	args  [6]uint64
	opens bool
}

func (t *tracer) enter(pid int, i info) *entry {
	e := &entry{call: Call{PID: pid}, args: i.args}
	s, ok := t.specs[i.nr]
	if !ok {
		e.call.Name = fmt.Sprintf("#%d", i.nr)
		return e
	}
	e.call.Name = s.name
	e.call.Path = e.find(s.path)
	e.call.To = e.find(s.to)
	if s.effect != nil {
		e.call.Effect = s.effect(e)
	}
	e.opens = s.name == "open" || s.name == "openat" || s.name == "openat2"
	if e.opens || e.call.Effect != "" || s.name == "execve" {
		e.call.Program, _ = os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	}
	return e
}

// leave completes the call. What an open opened is known only now.
func (e *entry) leave(ret int64) Call {
	e.call.Ret = ret
	if e.opens && ret >= 0 {
		if p := fdPath(e.call.PID, int32(ret)); p != "" {
			e.call.Path = p
		}
	}
	return e.call
}

func (e *entry) find(p place) string {
	pid := e.call.PID
	switch p.how {
	case asFD:
		if int32(e.args[p.arg]) < 0 {
			return "" // an anonymous mapping
		}
		return fdPath(pid, int32(e.args[p.arg]))
	case asPath:
		return resolve(pid, unix.AT_FDCWD, str(pid, e.args[p.arg]))
	case asAt:
		return resolve(pid, int32(e.args[p.arg]), str(pid, e.args[p.arg+1]))
	}
	return ""
}

func always(e Effect) func(*entry) Effect { return func(*entry) Effect { return e } }

// opening is the effect of an open(2) with these flags.
func (e *entry) opening(flags uint64) Effect {
	if flags&unix.O_TMPFILE == unix.O_TMPFILE {
		return Create
	}
	if flags&unix.O_CREAT != 0 {
		if _, err := os.Lstat(e.call.Path); err != nil {
			return Create
		}
	}
	if flags&unix.O_TRUNC != 0 {
		return Truncate
	}
	return ""
}

// locking is the effect of fcntl(2): F_WRLCK in the struct flock that the third argument points to.
func (e *entry) locking() Effect {
	switch e.args[1] {
	case unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_SETLK, unix.F_OFD_SETLKW:
		if raw := peek(e.call.PID, e.args[2], 2); len(raw) == 2 && binary.NativeEndian.Uint16(raw) == unix.F_WRLCK {
			return WriteLock
		}
	}
	return ""
}

// specs are the calls that open, change or lock a file, by number.
func specs() map[uint64]spec {
	all := map[uint64]spec{
		unix.SYS_OPENAT: {"openat", at(0), place{}, func(e *entry) Effect { return e.opening(e.args[2]) }},
		unix.SYS_OPENAT2: {"openat2", at(0), place{}, func(e *entry) Effect {
			if raw := peek(e.call.PID, e.args[2], 8); len(raw) == 8 {
				return e.opening(binary.NativeEndian.Uint64(raw))
			}
			return Hidden
		}},
		unix.SYS_FCNTL: {"fcntl", fd(0), place{}, (*entry).locking},
		unix.SYS_FLOCK: {"flock", fd(0), place{}, func(e *entry) Effect {
			if e.args[1]&unix.LOCK_EX != 0 {
				return WriteLock
			}
			return ""
		}},
		unix.SYS_MMAP: {"mmap", fd(4), place{}, func(e *entry) Effect {
			if e.call.Path != "" && e.args[2]&unix.PROT_WRITE != 0 && e.args[3]&unix.MAP_SHARED != 0 {
				return MapWrite
			}
			return ""
		}},
		unix.SYS_EXECVE:         {"execve", path(0), place{}, nil},
		unix.SYS_IO_URING_SETUP: {"io_uring_setup", place{}, place{}, always(Hidden)},
	}
	maps.Copy(all, writers())
	maps.Copy(all, legacy())
	return all
}

// writers change the file system whenever they succeed.
func writers() map[uint64]spec {
	return map[uint64]spec{
		unix.SYS_WRITE:           {"write", fd(0), place{}, always(Write)},
		unix.SYS_PWRITE64:        {"pwrite64", fd(0), place{}, always(Write)},
		unix.SYS_WRITEV:          {"writev", fd(0), place{}, always(Write)},
		unix.SYS_PWRITEV:         {"pwritev", fd(0), place{}, always(Write)},
		unix.SYS_PWRITEV2:        {"pwritev2", fd(0), place{}, always(Write)},
		unix.SYS_SENDFILE:        {"sendfile", fd(0), place{}, always(Write)},
		unix.SYS_SPLICE:          {"splice", fd(2), place{}, always(Write)},
		unix.SYS_COPY_FILE_RANGE: {"copy_file_range", fd(2), place{}, always(Write)},
		unix.SYS_FTRUNCATE:       {"ftruncate", fd(0), place{}, always(Truncate)},
		unix.SYS_TRUNCATE:        {"truncate", path(0), place{}, always(Truncate)},
		unix.SYS_FALLOCATE:       {"fallocate", fd(0), place{}, always(Truncate)},
		unix.SYS_RENAMEAT:        {"renameat", at(0), at(2), always(Rename)},
		unix.SYS_RENAMEAT2:       {"renameat2", at(0), at(2), always(Rename)},
		unix.SYS_UNLINKAT:        {"unlinkat", at(0), place{}, always(Remove)},
		unix.SYS_LINKAT:          {"linkat", at(0), at(2), always(Create)},
		unix.SYS_SYMLINKAT:       {"symlinkat", at(1), place{}, always(Create)},
		unix.SYS_MKDIRAT:         {"mkdirat", at(0), place{}, always(Create)},
		unix.SYS_MKNODAT:         {"mknodat", at(0), place{}, always(Create)},
		unix.SYS_FCHMOD:          {"fchmod", fd(0), place{}, always(Attribute)},
		unix.SYS_FCHMODAT:        {"fchmodat", at(0), place{}, always(Attribute)},
		unix.SYS_FCHMODAT2:       {"fchmodat2", at(0), place{}, always(Attribute)},
		unix.SYS_FCHOWN:          {"fchown", fd(0), place{}, always(Attribute)},
		unix.SYS_FCHOWNAT:        {"fchownat", at(0), place{}, always(Attribute)},
		unix.SYS_UTIMENSAT:       {"utimensat", at(0), place{}, always(Attribute)},
		unix.SYS_SETXATTR:        {"setxattr", path(0), place{}, always(Attribute)},
		unix.SYS_LSETXATTR:       {"lsetxattr", path(0), place{}, always(Attribute)},
		unix.SYS_FSETXATTR:       {"fsetxattr", fd(0), place{}, always(Attribute)},
		unix.SYS_REMOVEXATTR:     {"removexattr", path(0), place{}, always(Attribute)},
		unix.SYS_LREMOVEXATTR:    {"lremovexattr", path(0), place{}, always(Attribute)},
		unix.SYS_FREMOVEXATTR:    {"fremovexattr", fd(0), place{}, always(Attribute)},
	}
}
