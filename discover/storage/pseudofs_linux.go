package storage

import (
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
)

// inPseudoFS reports whether a file that is regular by its mode is in a pseudo file system: the kernel makes the files of
// /proc, cgroups and the like when they are read, and reading one can have an effect (what is read from /proc/kmsg is gone
// from it). Such a file has no size, and its device has no number of its own (major 0).
func inPseudoFS(path string, info fs.FileInfo) bool {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok || st.Size != 0 || unix.Major(uint64(st.Dev)) != 0 {
		return false
	}
	var system unix.Statfs_t
	if unix.Statfs(path, &system) != nil {
		return false
	}
	switch int64(system.Type) {
	case unix.PROC_SUPER_MAGIC, unix.DEBUGFS_MAGIC, unix.TRACEFS_MAGIC, unix.SECURITYFS_MAGIC, unix.SELINUX_MAGIC,
		unix.CGROUP_SUPER_MAGIC, unix.CGROUP2_SUPER_MAGIC, unix.BPF_FS_MAGIC, unix.EFIVARFS_MAGIC:
		return true
	}
	return false
}
