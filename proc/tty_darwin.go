package proc

import (
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// tty searches /dev, as ttyname(3) does.
func (xnu) tty(p Process) (string, error) {
	entries, err := os.ReadDir("/dev")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		var here unix.Stat_t
		path := filepath.Join("/dev", e.Name())
		if strings.HasPrefix(e.Name(), "tty") && unix.Stat(path, &here) == nil && here.Mode&unix.S_IFMT == unix.S_IFCHR && uint64(uint32(here.Rdev)) == p.TTYDevice {
			return path, nil
		}
	}
	return "", ErrPathDiffers
}
