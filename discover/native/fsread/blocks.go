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
