//go:build !linux || !(amd64 || arm64)

package native

import "golang.org/x/sys/unix"

// openCached: here, nothing is asked for without waiting.
func openCached(int, string, int) (int, error) { return -1, unix.ENOSYS }

func statCached(fd int, st *unix.Stat_t) error { return unix.Fstat(fd, st) }

func preadCached(int, []byte, int64) (int, error) { return 0, unix.ENOSYS }

func closeCached(fd int) error { return unix.Close(fd) }

func statAt(dir int, path []byte, st *unix.Stat_t) error {
	return unix.Fstatat(dir, string(path[:len(path)-1]), st, unix.AT_SYMLINK_NOFOLLOW)
}
