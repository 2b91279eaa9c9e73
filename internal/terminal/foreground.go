package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Foreground reports whether our process group is the foreground process group of the terminal. If so, Ctrl-C and
// Ctrl-Z signal us and every process of the group.
func Foreground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
