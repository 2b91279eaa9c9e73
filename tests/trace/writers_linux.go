//go:build linux && (amd64 || arm64)

package trace

import "golang.org/x/sys/unix"

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
