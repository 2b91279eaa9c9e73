package fsread

import (
	"errors"

	"golang.org/x/sys/unix"
)

// A sparse file can have holes of terabytes, which read as zeros and take no space on the disk. Reading one takes minutes and
// is of no use. holeEnd and holeStart find data by lseek(2) with SEEK_DATA, and return the position itself where the file system
// does not support that.

// holeEnd returns the end of the hole that pos is in; pos if it is in none.
func (f *File) holeEnd(pos int64) int64 {
	if at, ok := f.nextData(pos); ok {
		return max(at, pos)
	}
	return pos
}

// holeStart returns the start of the hole that ends at pos or extends beyond it; pos if there is none.
func (f *File) holeStart(pos int64) int64 {
	if pos == 0 {
		return 0
	}
	// From x on there is no data before pos: true of all x in the hole, and of none before it.
	empty := func(x int64) bool {
		at, ok := f.nextData(x)
		return ok && at >= pos
	}
	if !empty(pos - 1) {
		return pos
	}
	low, high := int64(0), pos-1 // high is in the hole
	for low < high {
		if mid := low + (high-low)/2; empty(mid) {
			high = mid
		} else {
			low = mid + 1
		}
	}
	return high
}

// nextData returns the position of the first data at or after pos; the size of the file if there is none.
func (f *File) nextData(pos int64) (at int64, ok bool) {
	if f.fd < 0 {
		return 0, false
	}
	at, err := unix.Seek(f.fd, pos, unix.SEEK_DATA)
	if errors.Is(err, unix.ENXIO) {
		return f.size, true
	}
	return at, err == nil
}
