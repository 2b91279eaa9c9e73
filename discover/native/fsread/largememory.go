package fsread

import "context"

// largeThreshold is the size in bytes from which a piece of memory is large: one for a line of many megabytes, or for an
// uncompressed file. One goroutine of a call has large memory at a time, so that a store of hostile files does not make
// sixteen readers allocate as much each.
const largeThreshold = 1 << 20

// largeMemory is the lock that a reader of a call holds while it has large memory.
type largeMemory struct{ slot chan struct{} }

func newLargeMemory() *largeMemory { return &largeMemory{make(chan struct{}, 1)} }

// AcquireLarge waits until no other reader of the call has large memory, and locks others out until release is called. It
// may be called again by the goroutine that holds the lock. The error is that of the call's context.
func (f *File) AcquireLarge() (release func(), err error) {
	s := f.callBuffers
	if s == nil || s.large == nil {
		return func() {}, nil
	}
	if s.largeDepth == 0 {
		select {
		case s.large.slot <- struct{}{}:
		case <-s.context().Done():
			return nil, context.Cause(s.context())
		}
	}
	s.largeDepth++
	return func() {
		if s.largeDepth--; s.largeDepth == 0 {
			<-s.large.slot
		}
	}, nil
}

// largeLease is a line reader's hold on the lock, from when it needs large memory until it is done.
type largeLease struct {
	file *File
	free func()
}

// ensure acquires the lock if n bytes are large.
func (h *largeLease) ensure(n int) (err error) {
	if n > largeThreshold && h.free == nil {
		h.free, err = h.file.AcquireLarge()
	}
	return err
}

func (h *largeLease) release() {
	if h.free != nil {
		h.free()
	}
}
