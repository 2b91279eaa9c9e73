package fsread

import "golang.org/x/sys/unix"

// stored reports whether a file that is regular by its mode lies in a file system that stores files. The kernel makes the
// files of /proc, cgroups and the like when they are read, and reading one can have an effect: what is read from
// /proc/kmsg is gone from it. The descriptor is the file's, and may be one by which it cannot be read (O_PATH).
func stored(fd int, st *unix.Stat_t) bool {
	if !maybeMade(st) {
		return true
	}
	var system unix.Statfs_t
	if err := unix.Fstatfs(fd, &system); err != nil {
		return true
	}
	return !madeByKernel(int64(system.Type)) //nolint:unconvert // the types differ between architectures
}

// storedAt is [stored] for a name, before the file is opened for reading.
func storedAt(dir int, name string, flags int, st *unix.Stat_t) bool {
	if !maybeMade(st) {
		return true
	}
	fd, err := unix.Openat(dir, name, unix.O_PATH|unix.O_CLOEXEC|flags, 0)
	if err != nil {
		return true // the open says why
	}
	defer unix.Close(fd)
	return stored(fd, st)
}

// maybeMade reports whether the kernel may make a file: such files have no size, on a device without a number of its own
// (major 0). It saves the file system's type for most files.
func maybeMade(st *unix.Stat_t) bool {
	return st.Size == 0 && unix.Major(uint64(st.Dev)) == 0 //nolint:unconvert // the types differ between architectures
}

// madeByKernel reports whether a file system of this type (statfs(2), f_type) holds no stored files.
func madeByKernel(system int64) bool {
	switch system {
	case unix.PROC_SUPER_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.SELINUX_MAGIC,
		unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.BPF_FS_MAGIC, unix.EFIVARFS_MAGIC:
		return true
	}
	return false
}
