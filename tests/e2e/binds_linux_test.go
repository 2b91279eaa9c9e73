package e2e_test

import (
	"os"

	"golang.org/x/sys/unix"

	"agentctl/tests/sandbox"
)

// binds reports whether a directory can be given another name, for this sandbox alone.
func binds() bool { return sandbox.Inside() && os.Geteuid() == 0 }

func bind(from, to string) error { return unix.Mount(from, to, "", unix.MS_BIND, "") }

func unbind(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }
