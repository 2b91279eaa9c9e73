package fsread

import (
	"context"
)

// Buffers is memory that the line readers reuse from one file to the next. Allocating and clearing new memory for each
// file would cost more than reading it. It belongs to one goroutine at a time.
type Buffers struct {
	buf      []byte
	newlines []int  // of a piece of a file
	dirents  []byte // of a directory's entries

	ctx        context.Context // of the call; nil: never ends
	large      *largeMemory    // shared with the other goroutines of the call; nil: there are none
	largeDepth int             // how often this goroutine has acquired large

	file   File  // see [Buffers.OpenIn]
	reused []any // see [Reuse]
}

// NewBuffers returns buffers for one goroutine that reads until ctx ends.
func NewBuffers(ctx context.Context) *Buffers { return &Buffers{ctx: ctx} }

// Context returns the context of the call that s belongs to.
func (s *Buffers) Context() context.Context { return s.context() }

func (s *Buffers) context() context.Context {
	if s == nil || s.ctx == nil {
		return context.Background()
	}
	return s.ctx
}

// Open opens a file as [Open] does, while another file may be read in s. The file has buffers of its own unless
// [File.UseBuffers] is called.
func (s *Buffers) Open(path string) (*File, error) {
	f, err := Open(s.context(), path)
	if err == nil {
		f.callBuffers = s
	}
	return f, err
}

// OpenIn is [Buffers.Open] for a file that is read in s. The File itself is part of s too, which saves a few of 60 MB
// where `list -a` lists 10,000 sessions. Close it before the next OpenIn.
func (s *Buffers) OpenIn(path string) (*File, error) {
	f, err := s.file.open(s.context(), path, NoFollow)
	if err == nil {
		f.UseBuffers(s)
	}
	return f, err
}

// Reuse returns the T that b keeps from one file to the next, zero at first. It is for memory that its user would otherwise
// allocate for each file (5 of 60 MB where `list -a` lists 10,000 sessions). b keeps one value of each type. Without buffers,
// each call returns a new value.
func Reuse[T any](b *Buffers) *T {
	if b == nil {
		return new(T)
	}
	for _, v := range b.reused {
		if t, ok := v.(*T); ok {
			return t
		}
	}
	t := new(T)
	b.reused = append(b.reused, t)
	return t
}

// Buffers returns the buffers that f is read in; nil if it has none.
func (f *File) Buffers() *Buffers { return f.buffers }

// CallBuffers returns the buffers that f was opened with; nil if there are none.
func (f *File) CallBuffers() *Buffers { return f.callBuffers }

// maxKeptBuffer is the most bytes that are kept for the next file.
const maxKeptBuffer = 1 << 20

// UseBuffers makes f be read in s. No line of f may be in use once s is used for another file.
func (f *File) UseBuffers(s *Buffers) { f.buffers, f.callBuffers = s, s }

// takeBuffer removes the memory from the buffers, so that a nested reader gets its own.
func (f *File) takeBuffer() []byte {
	if f.buffers == nil {
		return nil
	}
	buf := f.buffers.buf
	f.buffers.buf = nil
	return buf
}

func (f *File) returnBuffer(buf []byte) {
	if f.buffers != nil && cap(buf) <= maxKeptBuffer && cap(buf) > cap(f.buffers.buf) {
		f.buffers.buf = buf
	}
}

// takeNewlines and returnNewlines do the same for the positions of newlines.
func (f *File) takeNewlines() []int {
	if f.buffers == nil {
		return nil
	}
	newlines := f.buffers.newlines
	f.buffers.newlines = nil
	return newlines
}

func (f *File) returnNewlines(newlines []int) {
	if f.buffers != nil {
		f.buffers.newlines = newlines
	}
}

// takeDirents and returnDirents do the same for the entries of a directory.
func (s *Buffers) takeDirents() []byte {
	if s == nil {
		return nil
	}
	room := s.dirents
	s.dirents = nil
	return room
}

func (s *Buffers) returnDirents(room []byte) {
	if s != nil && len(room) > len(s.dirents) {
		s.dirents = room
	}
}
