package trace

import "golang.org/x/sys/unix"

// legacy are the calls without a directory descriptor that only old architectures have.
func legacy() map[uint64]spec {
	return map[uint64]spec{
		unix.SYS_OPEN:      {"open", path(0), place{}, func(e *entry) Effect { return e.opening(e.args[1]) }},
		unix.SYS_CREAT:     {"creat", path(0), place{}, always(Create)},
		unix.SYS_RENAME:    {"rename", path(0), path(1), always(Rename)},
		unix.SYS_UNLINK:    {"unlink", path(0), place{}, always(Remove)},
		unix.SYS_RMDIR:     {"rmdir", path(0), place{}, always(Remove)},
		unix.SYS_MKDIR:     {"mkdir", path(0), place{}, always(Create)},
		unix.SYS_MKNOD:     {"mknod", path(0), place{}, always(Create)},
		unix.SYS_LINK:      {"link", path(0), path(1), always(Create)},
		unix.SYS_SYMLINK:   {"symlink", path(1), place{}, always(Create)},
		unix.SYS_CHMOD:     {"chmod", path(0), place{}, always(Attribute)},
		unix.SYS_CHOWN:     {"chown", path(0), place{}, always(Attribute)},
		unix.SYS_LCHOWN:    {"lchown", path(0), place{}, always(Attribute)},
		unix.SYS_UTIME:     {"utime", path(0), place{}, always(Attribute)},
		unix.SYS_UTIMES:    {"utimes", path(0), place{}, always(Attribute)},
		unix.SYS_FUTIMESAT: {"futimesat", at(0), place{}, always(Attribute)},
	}
}
