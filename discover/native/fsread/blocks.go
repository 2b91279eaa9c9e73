package fsread

import (
	"bytes"
	"errors"
	"io"
	"slices"
)

// blockSize is how many bytes of a file [File.Blocks] reads at once.
const blockSize = 128 << 10

// Blocks calls visit with the bytes of the file from its beginning, some whole lines at a time, until visit returns false.
// Only the last block may end without a newline. Error: [ErrTooLarge] for a line of more than [MaxLine] bytes, after which
// nothing is read, and those of reading. A block is valid until visit returns.
func (f *File) Blocks(visit func([]byte) bool) error {
	if f.fd < 0 {
		visit(f.content[:min(f.size, int64(len(f.content)))])
		return nil
	}
	buf := f.takeBuffer()[:0]
	held := largeLease{file: f}
	defer held.release()
	defer func() { f.returnBuffer(buf) }()
	for pos := int64(0); pos < f.size; {
		kept := len(buf)
		n := int(min(blockSize, f.size-pos))
		if err := held.ensure(kept + n); err != nil {
			return err
		}
		buf = slices.Grow(buf, n)[:kept+n]
		m, err := f.ReadAt(buf[kept:], pos)
		buf = buf[:kept+m]
		pos += int64(m)
		if err != nil && !errors.Is(err, io.EOF) {
			return err
		}
		end := kept + bytes.LastIndexByte(buf[kept:], '\n') + 1
		if m == 0 || pos >= f.size {
			visit(buf)
			return nil
		}
		if end == kept { // no line ends here
			if len(buf) > MaxLine {
				return tooLarge(MaxLine)
			}
			continue
		}
		if !visit(buf[:end]) {
			return nil
		}
		buf = buf[:copy(buf, buf[end:])]
	}
	return nil
}
