package cli

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// defaultWidth is assumed of a terminal that does not tell its size.
const defaultWidth = 80

// terminalWidth returns the number of columns if f is a terminal. $COLUMNS counts only for one that does not tell.
func terminalWidth(f *os.File, getenv func(string) string) (width int, ok bool) {
	size, err := unix.IoctlGetWinsize(int(f.Fd()), unix.TIOCGWINSZ)
	if err != nil {
		return 0, false
	}
	if size.Col > 0 {
		return int(size.Col), true
	}
	if n, err := strconv.Atoi(getenv("COLUMNS")); err == nil && n > 0 {
		return n, true
	}
	return defaultWidth, true
}
