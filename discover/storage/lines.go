package storage

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// MaxLine is the most bytes of a line that are kept in memory. Real lines have megabytes (images). A longer line is
// truncated, so that a damaged or hostile file costs bounded memory.
const MaxLine = 16 << 20

// Line is one line of a file, without its newline.
type Line struct {
	// Bytes are valid until visit returns.
	Bytes []byte
	// Offset is that of the first byte in the file; for a line that is Cut in a backward read, that of the first byte
	// kept.
	Offset int64
	// Cut: the line is longer than [MaxLine], and Bytes is only its beginning (forward) or its end (backward).
	Cut bool
	// Rest: it is what is left of a record; see [File.Records].
	Rest bool
}

// Bounds of a read in bytes. Larger reads are no faster, and take memory.
const (
	firstChunk = 8 << 10
	maxChunk   = 128 << 10
)

// maxSkipped is how many bytes of a line that is longer than [MaxLine] are read for its end. A sparse file can have a hole of terabytes.
const maxSkipped = 128 << 20

// chunk returns the size of the next read after so many bytes.
func chunk(read int64) int64 { return min(max(firstChunk, read), maxChunk) }

// Forward calls visit with each terminated line, until visit returns false, the file ends, or limit bytes are read (0: no
// limit). An unterminated last line is left out: its writer has not finished it. It reports whether visit got everything
// up to the end. Error: [ErrTooLarge] if a line does not end within 128 MB, and those of reading.
func (f *File) Forward(limit int64, visit func(Line) bool) (whole bool, err error) {
	return f.forward(limit, visit, nil)
}

// forward is Forward, and calls last with an unterminated last line; nil: it is left out.
func (f *File) forward(limit int64, visit, last func(Line) bool) (whole bool, err error) {
	end := f.size
	if limit > 0 {
		end = min(limit, f.size)
	}
	var (
		buf        = f.takeBuffer()[:0] // starts with the first byte of the current line, which is at offset start
		start, pos int64
		skipped    int64 // bytes of a line that was cut
	)
	held := largeLease{file: f}
	defer held.release()
	defer func() { f.returnBuffer(buf) }()
	for pos < end {
		n := min(chunk(pos), end-pos)
		if limit == 0 { // it is read to its end
			n = min(maxChunk, end-pos)
		}
		fresh := len(buf)
		if err := held.ensure(fresh + int(n)); err != nil {
			return false, err
		}
		buf = slices.Grow(buf, int(n))[:fresh+int(n)]
		m, err := f.ReadAt(buf[fresh:], pos)
		buf = buf[:fresh+m]
		pos += int64(m)
		if err != nil && !errors.Is(err, io.EOF) {
			return false, err
		}
		used := 0
		for {
			at := max(used, fresh)
			i := bytes.IndexByte(buf[at:], '\n')
			if i < 0 {
				break
			}
			line := Line{Bytes: buf[used : at+i], Offset: start + int64(used)}
			used = at + i + 1
			if skipped > 0 {
				skipped = 0
				continue
			}
			if !visit(line) {
				return false, nil
			}
		}
		start += int64(used)
		buf = buf[:copy(buf, buf[used:])]
		if skipped == 0 && len(buf) > MaxLine && !visit(Line{Bytes: buf[:MaxLine], Offset: start, Cut: true}) {
			return false, nil
		}
		if skipped > 0 || len(buf) > MaxLine {
			skipped += int64(len(buf))
			start += int64(len(buf))
			buf = buf[:0]
		}
		if skipped > maxSkipped {
			return false, tooLarge(maxSkipped)
		}
		if m == 0 {
			break
		}
	}
	if whole = pos >= f.size; whole && last != nil && skipped == 0 && !last(Line{Bytes: buf, Offset: start}) {
		return false, nil
	}
	return whole, nil
}

// Backward calls visit with each terminated line, the last one first, until visit returns false, the beginning is
// reached, or limit bytes are read (0: no limit). An unterminated last line is left out. It reports whether visit got
// everything down to the beginning. The cost depends on how many lines visit takes, not on the size of the file. Errors are those of
// [File.Forward].
func (f *File) Backward(limit int64, visit func(Line) bool) (whole bool, err error) {
	return f.backward(limit, visit, nil)
}

// backward is Backward, and calls last with an unterminated last line; nil: it is left out.
func (f *File) backward(limit int64, visit, last func(Line) bool) (whole bool, err error) {
	if last == nil {
		last = func(Line) bool { return true }
	}
	var (
		w       = newBackwardBuffer(f.takeBuffer()) // bytes from pos to the end of the current line, its newline excluded
		pos     = f.size
		stop    = int64(0)
		begun   bool  // a newline was seen: what precedes it is a terminated line
		skipped int64 // bytes of a line that was cut
		take    = last

		newlines []int
	)
	held := largeLease{file: f}
	defer held.release()
	defer func() { f.returnBuffer(w.buf) }()
	if limit > 0 && f.size-limit > stop {
		stop = f.size - limit
	}
	for pos > stop {
		n := int(min(chunk(f.size-pos), pos-stop))
		if err := held.ensure(w.len() + n); err != nil {
			return false, err
		}
		fresh := w.prepend(n)
		if m, err := f.ReadAt(fresh, pos-int64(n)); err != nil && !errors.Is(err, io.EOF) {
			return false, err
		} else if m < n { // it has shrunk: what is left may end in the middle of a line
			return false, nil
		}
		pos -= int64(n)
		newlines = appendNewlines(newlines[:0], fresh)
		for _, i := range slices.Backward(newlines) {
			if skipped == 0 && !take(Line{Bytes: w.bytes()[i+1:], Offset: pos + int64(i) + 1}) {
				return false, nil
			}
			begun, skipped, take = true, 0, visit
			w.end = w.start + i
		}
		over := w.len() - MaxLine
		if begun && skipped == 0 && over > 0 && !visit(Line{Bytes: w.bytes()[over:], Offset: pos + int64(over), Cut: true}) {
			return false, nil
		}
		if skipped > 0 || over > 0 {
			skipped += int64(w.len())
			w.clear()
		}
		if skipped > maxSkipped {
			return false, tooLarge(maxSkipped)
		}
	}
	if pos > 0 {
		return false, nil
	}
	if skipped == 0 && !take(Line{Bytes: w.bytes(), Offset: 0}) {
		return false, nil
	}
	return true, nil
}

// appendNewlines appends the positions of the newlines of b. Searching forward is many times faster than
// bytes.LastIndexByte.
func appendNewlines(at []int, b []byte) []int {
	for i := 0; ; i++ {
		n := bytes.IndexByte(b[i:], '\n')
		if n < 0 {
			return at
		}
		i += n
		at = append(at, i)
	}
}

// backwardBuffer is a part of a file that grows towards the beginning of the file.
type backwardBuffer struct {
	buf        []byte
	start, end int // what it holds is buf[start:end]
}

func newBackwardBuffer(buf []byte) backwardBuffer {
	w := backwardBuffer{buf: buf[:cap(buf)]}
	w.clear()
	return w
}

func (w *backwardBuffer) bytes() []byte { return w.buf[w.start:w.end] }
func (w *backwardBuffer) len() int      { return w.end - w.start }
func (w *backwardBuffer) clear()        { w.start, w.end = len(w.buf), len(w.buf) }

// prepend makes room for n bytes before the content, and returns it to be filled.
func (w *backwardBuffer) prepend(n int) []byte {
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

// blockSize is how many bytes of a file [File.Blocks] reads at once.
const blockSize = 128 << 10

// Blocks calls visit with the bytes of the file from its beginning, some whole lines at a time, until visit returns false.
// Only the last block may end without a newline. Error: [ErrTooLarge] for a line of more than [MaxLine] bytes, after which
// nothing is read, and those of reading. A block is valid until visit returns.
func (f *File) Blocks(visit func([]byte) bool) error {
	buf := f.takeBuffer()[:0] // what is read and not visited
	defer func() { f.returnBuffer(buf) }()
	held := largeLease{file: f}
	defer held.release()
	for pos := int64(0); pos < f.size; {
		kept := len(buf)
		n := int(min(blockSize, f.size-pos))
		if err := held.ensure(kept + n); err != nil {
			return err
		}
		buf = slices.Grow(buf, n)[:kept+n]
		m, err := f.ReadAt(buf[kept:], pos)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		buf = buf[:kept+m]
		pos += int64(m)
		end := kept + bytes.LastIndexByte(buf[kept:], '\n') + 1
		switch {
		case m == 0 || pos >= f.size:
			visit(buf)
			return nil
		case end > kept:
			if !visit(buf[:end]) {
				return nil
			}
			buf = buf[:copy(buf, buf[end:])]
		case len(buf) > MaxLine: // and no line ends here
			return tooLarge(MaxLine)
		}
	}
	return nil
}
