package cli

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// What is assumed of a terminal that does not tell its size.
const (
	defaultWidth  = 80
	defaultHeight = 24
)

// terminalSize returns the number of columns and lines if f is a terminal. $COLUMNS and $LINES count only for one that
// does not tell.
func terminalSize(f *os.File, getenv func(string) string) (width, height int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, 0, false
	}
	told := func(n uint16, name string, otherwise int) int {
		if n > 0 {
			return int(n)
		}
		if n, err := strconv.Atoi(getenv(name)); err == nil && n > 0 {
			return n
		}
		return otherwise
	}
	return told(size.Col, "COLUMNS", defaultWidth), told(size.Row, "LINES", defaultHeight), true
}
