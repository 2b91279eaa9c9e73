package discover

import (
	"os"
	"syscall"
)

// dirOwner is the user that a directory belongs to, if it is there.
func dirOwner(dir string) (uid int, ok bool) {
	info, err := os.Stat(dir)
	if err != nil {
		return 0, false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(st.Uid), true
}
