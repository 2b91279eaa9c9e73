package e2e_test

import "golang.org/x/sys/unix"

// inotify opens a descriptor that watches files.
func inotify() (int, error) { return unix.InotifyInit1(unix.IN_CLOEXEC) }
