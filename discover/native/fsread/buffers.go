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
	list     []byte // of a directory's entries

	ctx   context.Context // of the call that it works for; nil: never ends
	large *large          // shared with the other goroutines of the call; nil: there are none
	held  int             // how often large is held

	file File  // the open one
	kept []any // see [Reuse]
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
		f.holder = s
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
	for _, v := range b.kept {
		if t, ok := v.(*T); ok {
			return t
		}
	}
	t := new(T)
	b.kept = append(b.kept, t)
	return t
}

// Buffers is what the readers of f work in; nil for none.
func (f *File) Buffers() *Buffers { return f.scratch }

// Holder is the scratch that f was opened by; nil for none.
func (f *File) Holder() *Buffers { return f.holder }

// scratchLimit is the most that is kept from one file to the next.
const scratchLimit = 1 << 20

// UseBuffers lets the readers of f work in s. Nothing of f may be in use once s is used for another file.
func (f *File) UseBuffers(s *Buffers) { f.scratch, f.holder = s, s }

// borrow takes the memory out of the scratch, so that a reader inside of another one gets its own.
func (f *File) borrow() []byte {
	if f.scratch == nil {
		return nil
	}
	buf := f.scratch.buf
	f.scratch.buf = nil
	return buf
}

func (f *File) giveBack(buf []byte) {
	if f.scratch != nil && cap(buf) <= scratchLimit && cap(buf) > cap(f.scratch.buf) {
		f.scratch.buf = buf
	}
}

// borrowNewlines and giveBackNewlines are the same for where the newlines of a piece are.
func (f *File) borrowNewlines() []int {
	if f.scratch == nil {
		return nil
	}
	newlines := f.scratch.newlines
	f.scratch.newlines = nil
	return newlines
}

func (f *File) giveBackNewlines(newlines []int) {
	if f.scratch != nil {
		f.scratch.newlines = newlines
	}
}

// borrowList and giveBackList are the same for what a directory is read with.
func (s *Buffers) borrowList() []byte {
	if s == nil {
		return nil
	}
	room := s.list
	s.list = nil
	return room
}

func (s *Buffers) giveBackList(room []byte) {
	if s != nil && len(room) > len(s.list) {
		s.list = room
	}
}

// window is a piece of a file that grows towards the file's beginning.
type window struct {
	buf        []byte
	start, end int // what it holds is buf[start:end]
}

func newWindow(buf []byte) window {
	w := window{buf: buf[:cap(buf)]}
	w.clear()
	return w
}

func (w *window) bytes() []byte { return w.buf[w.start:w.end] }
func (w *window) len() int      { return w.end - w.start }
func (w *window) clear()        { w.start, w.end = len(w.buf), len(w.buf) }

// room puts n bytes before what the window holds and returns them to be filled.
func (w *window) room(n int) []byte {
	if w.start < n {
		to := w.buf
		if need := n + w.len(); need > len(to) {
			to = make([]byte, max(need, 2*len(to)))
		}
		held := w.bytes()
		copy(to[len(to)-len(held):], held)
		w.buf, w.start, w.end = to, len(to)-len(held), len(to)
	}
	w.start -= n
	return w.buf[w.start : w.start+n]
}
