package fsread

import "context"

// largeThreshold is the size in bytes from which one goroutine of a call at a time may have a piece of memory: a line of many
// megabytes, or a file that was unpacked. A store of hostile files cannot make sixteen readers take as much each.
const largeThreshold = 1 << 20

// largeMemory is the right to a large piece of memory. One reader of a call has it at a time.
type largeMemory struct{ slot chan struct{} }

func newLargeMemory() *largeMemory { return &largeMemory{make(chan struct{}, 1)} }

// AcquireLarge waits until no other reader of the call has a large piece of memory, and keeps others from having one until release
// is called. A goroutine that holds it already goes on. Error: that of the call's context.
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

// largeLease is what a line reader holds, from when it needs it until it is done.
type largeLease struct {
	file *File
	free func()
}

// ensure is called before so many bytes are held.
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
