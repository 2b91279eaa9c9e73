package native

import (
	"errors"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// descriptor is an open file of the system. Several goroutines may read it at a time.
type descriptor struct {
	fd   int
	here *atHand // set if it was in memory when it was opened
}

// atHand asks the system for what it has in memory, by calls that fail where they would have to wait for a disk.
// Such a call need not be announced to Go's scheduler: that takes the processor from a goroutine that is in a call for more
// than 20 µs and wakes another thread for it, and readers that make seventy thousand short calls lose up to a tenth of their
// time with it. What is not in memory is asked for once more, by a call that may wait.
//
// Its zero value tries, and it does not try again where that is of no use.
type atHand struct {
	// never is set once a call did not exist – Linux before 5.12, another system, a sandbox that refuses what it does not know –
	// or not for a file, as those of a network or of an overlay.
	never atomic.Bool
}

// note notes what an error says of all such calls.
func (a *atHand) note(err error) {
	for _, none := range []error{unix.ENOSYS, unix.EINVAL, unix.EPERM, unix.EOPNOTSUPP} {
		if errors.Is(err, none) {
			a.never.Store(true)
		}
	}
}

// tries reports whether calls on it that do not wait are worth a try.
func (d descriptor) tries() bool { return d.here != nil && !d.here.never.Load() }

// open opens a name for reading.
func (a *atHand) open(dir int, name string, flags int) (descriptor, error) {
	if !a.never.Load() {
		fd, err := openCached(dir, name, flags)
		if err == nil {
			return descriptor{fd, a}, nil
		}
		if errors.Is(err, unix.ENOENT) {
			return descriptor{}, err
		}
		a.note(err)
	}
	fd, err := retry(func() (int, error) { return unix.Openat(dir, name, flags, 0) })
	return descriptor{fd: fd}, err
}

// stat states it.
func (d descriptor) stat(st *unix.Stat_t) error {
	if d.tries() {
		return statCached(d.fd, st)
	}
	return unix.Fstat(d.fd, st)
}

// pread reads a piece of it.
func (d descriptor) pread(p []byte, off int64) (int, error) {
	if d.tries() {
		n, err := preadCached(d.fd, p, off)
		if n > 0 { // Linux 5.9 and 5.10 may say 0 where the file goes on (readv(2))
			return n, nil
		}
		d.here.note(err)
	}
	return retry(func() (int, error) { return unix.Pread(d.fd, p, off) })
}

// close closes it.
func (d descriptor) close() error {
	if d.tries() {
		return closeCached(d.fd)
	}
	return unix.Close(d.fd)
}
