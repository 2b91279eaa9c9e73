package fsread

import (
	"context"
)

// Buffers is memory in which the line readers work through one file after another. One that reads many files saves
// with it what getting and clearing new memory for each would cost, which is more than reading them. It belongs to one
// goroutine at a time.
type Buffers struct {
	buf      []byte
	newlines []int  // of a piece of a file
	dirents  []byte // of a directory's entries

	ctx        context.Context // of the call that it works for; nil: never ends
	large      *largeMemory    // shared with the other goroutines of the call; nil: there are none
	largeDepth int             // how often large is held

	file   File  // the open one
	reused []any // see [Reuse]
}

// NewBuffers is memory for one goroutine that reads within a context.
func NewBuffers(ctx context.Context) *Buffers { return &Buffers{ctx: ctx} }

// Context is that of the call that s belongs to.
func (s *Buffers) Context() context.Context { return s.context() }

func (s *Buffers) context() context.Context {
	if s == nil || s.ctx == nil {
		return context.Background()
	}
	return s.ctx
}

// Open is [Open] within the call that s belongs to, for a file that is read beside the one that is read in s: it has
// buffers of its own, unless it is told to [File.Use] those of s.
func (s *Buffers) Open(path string) (*File, error) {
	f, err := Open(s.context(), path)
	if err == nil {
		f.callBuffers = s
	}
	return f, err
}

// OpenIn is [Buffers.Open] of a file that is read in s: its memory is s's own, a few of 60 MB where `list -a` lists 10,000
// sessions. It is closed before another one is opened so.
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

// Buffers is what the readers of f work in; nil for none.
func (f *File) Buffers() *Buffers { return f.buffers }

// CallBuffers is the scratch that f was opened by; nil for none.
func (f *File) CallBuffers() *Buffers { return f.callBuffers }

// maxKeptBuffer is the most that is kept from one file to the next.
const maxKeptBuffer = 1 << 20

// UseBuffers lets the readers of f work in s. Nothing of f may be in use once s is used for another file.
func (f *File) UseBuffers(s *Buffers) { f.buffers, f.callBuffers = s, s }

// takeBuffer takes the memory out of the scratch, so that a reader inside of another one gets its own.
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

// takeNewlines and giveBackNewlines are the same for where the newlines of a piece are.
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

// takeDirents and giveBackList are the same for what a directory is read with.
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
