//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package terminal

import "golang.org/x/sys/unix"

const (
	getTermios    = unix.TIOCGETA
	setTermios    = unix.TIOCSETAW // after pending output is written
	setTermiosNow = unix.TIOCSETA
	// disabledChar is a control character that no key types (_POSIX_VDISABLE).
	disabledChar = 0xff
)

// discardOutput throws away what the terminal has not taken, and lets writes go on that Ctrl-S has stopped.
func discardOutput(fd int) {
	const write = 2 // FWRITE: the queue of the output
	_ = unix.IoctlSetPointerInt(fd, unix.TIOCFLUSH, write)
	_ = unix.IoctlSetInt(fd, unix.TIOCSTART, 0)
}
