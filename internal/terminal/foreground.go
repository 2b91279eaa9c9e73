package terminal

import (
	"os"

	"golang.org/x/sys/unix"
)

// Foreground reports whether the keys of our terminal that are signals reach us, and all others of our process group.
func Foreground() bool {
	tty, err := os.Open("/dev/tty")
	if err != nil {
		return false
	}
	defer tty.Close()
	group, err := unix.IoctlGetInt(int(tty.Fd()), unix.TIOCGPGRP)
	return err == nil && group == unix.Getpgrp()
}
