package fsread

import "golang.org/x/sys/unix"

// inPseudoFS reports whether a file that is regular by its mode is in a pseudo file system: the kernel makes the files of
// /proc, cgroups and the like when they are read, and reading one can have an effect (what is read from /proc/kmsg is gone
// from it). The descriptor may be one that cannot be read from (O_PATH).
func inPseudoFS(fd int, st *unix.Stat_t) bool {
	if !maybePseudo(st) {
		return false
	}
	var system unix.Statfs_t
	if err := unix.Fstatfs(fd, &system); err != nil {
		return false
	}
	return isPseudoFS(int64(system.Type))
}

// inPseudoFSAt is [inPseudoFS] for a name, before the file is opened for reading.
func inPseudoFSAt(dir int, name string, flags int, st *unix.Stat_t) bool {
	if !maybePseudo(st) {
		return false
	}
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return false // the open for reading returns the reason
	}
	defer unix.Close(fd)
	return inPseudoFS(fd, st)
}

// maybePseudo reports whether a file may be in a pseudo file system: such a file has no size, and its device has no number of
// its own (major 0). This saves statfs(2) for most files.
func maybePseudo(st *unix.Stat_t) bool {
	return st.Size == 0 && unix.Major(uint64(st.Dev)) == 0
}

// isPseudoFS reports whether a file system of this type (statfs(2), f_type) stores no files.
func isPseudoFS(system int64) bool {
	switch system {
	case unix.PROC_SUPER_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.SELINUX_MAGIC,
		unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.BPF_FS_MAGIC, unix.EFIVARFS_MAGIC:
		return true
	}
	return false
}
