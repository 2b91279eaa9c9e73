package native

import (
	"errors"

	"golang.org/x/sys/unix"
)

// descriptor is an open file of the system.
type descriptor struct {
	fd int
	// here is set for one that was in memory when it was opened. It is asked by calls that do not wait.
	here *atHand
}

// atHand asks the system for what it has in memory, by calls that fail where they would have to wait for a disk.
// Such a call need not be announced to Go's scheduler: that takes the processor from a goroutine that is in a call for more
// than 20 µs and wakes another thread for it, and readers that make seventy thousand short calls lose up to a tenth of their
// time with it. What is not in memory is asked for once more, by a call that may wait.
//
// Its zero value tries, and it does not try again where that is of no use. It belongs to one goroutine at a time.
type atHand struct {
	// never is set once a call did not exist – Linux before 5.12, another system, a sandbox that refuses what it does not know –
	// or not for a file, as those of a network or of an overlay.
	never bool
}

// note notes what an error says of all such calls.
func (a *atHand) note(err error) {
	for _, none := range []error{unix.ENOSYS, unix.EINVAL, unix.EPERM, unix.EOPNOTSUPP} {
		a.never = a.never || errors.Is(err, none)
	}
}

// open opens a name for reading.
func (a *atHand) open(dir int, name string, flags int) (descriptor, error) {
	if !a.never {
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
func (d *descriptor) stat(st *unix.Stat_t) error {
	if d.here == nil {
		return unix.Fstat(d.fd, st)
	}
	return statCached(d.fd, st)
}

// pread reads a piece of it.
func (d *descriptor) pread(p []byte, off int64) (int, error) {
	if d.here != nil {
		n, err := preadCached(d.fd, p, off)
		if n > 0 { // Linux 5.9 and 5.10 may say 0 where the file goes on (readv(2))
			return n, nil
		}
		if d.here.note(err); d.here.never {
			d.here = nil
		}
	}
	return retry(func() (int, error) { return unix.Pread(d.fd, p, off) })
}

// close closes it.
func (d *descriptor) close() error {
	if d.here == nil {
		return unix.Close(d.fd)
	}
	return closeCached(d.fd)
}
