package terminal

import "golang.org/x/sys/unix"

const (
	getTermios    = unix.TCGETS
	setTermios    = unix.TCSETSW // after pending output is written
	setTermiosNow = unix.TCSETS
	// disabledChar is a control character that no key types (_POSIX_VDISABLE).
	disabledChar = 0
)

// discardOutput throws away what the terminal has not taken, and lets writes go on that Ctrl-S or a full buffer has stopped. The
// kernel wakes them only if the output was stopped by a program, hence the stop before.
func discardOutput(fd int) {
	_ = unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOOFF)
	_ = unix.IoctlSetInt(fd, unix.TCFLSH, unix.TCOFLUSH)
	_ = unix.IoctlSetInt(fd, unix.TCXONC, unix.TCOON)
}
