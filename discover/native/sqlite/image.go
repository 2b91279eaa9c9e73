package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// image is a database file as SQLite sees it: in rollback mode, with as many pages as there are. SQLite would search for
// the log of a database in WAL mode, and reject a truncated one as a whole.
type image struct {
	pages  io.ReaderAt
	size   int64
	header [headerSize]byte
}

// Offsets in the header of a database (sqlite.org/fileformat2.html, 1.3).
const (
	headerSize = 100
	pageSizeAt = 16
	versionsAt = 18 // for writing, for reading: 1 for the rollback mode, 2 for WAL
	countAt    = 28 // the size of the database in pages
	encodingAt = 56
	utf8Text   = 1 // 0 is in a database without any table
)

func newImage(pages io.ReaderAt, size int64) (*image, error) {
	m := &image{pages: pages, size: size}
	if size == 0 {
		return m, nil
	}
	if n, err := pages.ReadAt(m.header[:], 0); n < headerSize && err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if code := binary.BigEndian.Uint32(m.header[encodingAt:]); code > utf8Text {
		return nil, fmt.Errorf("text encoding %d: only UTF-8 is read", code)
	}
	for _, at := range []int{versionsAt, versionsAt + 1} {
		m.header[at] = min(m.header[at], 1)
	}
	binary.BigEndian.PutUint32(m.header[countAt:], uint32(size/max(headerPageSize(&m.header), 1)))
	return m, nil
}

// headerPageSize returns the size of a page in bytes, as the header of a database has it.
func headerPageSize(header *[headerSize]byte) int64 {
	size := int64(binary.BigEndian.Uint16(header[pageSizeAt:]))
	if size == 1 {
		return 1 << 16
	}
	return size
}

// name returns the file name for SQLite, which is unique among open ones.
func (m *image) name() string { return fmt.Sprintf("%p", m) }

// Size returns the size of the file in bytes.
func (m *image) Size() (int64, error) { return m.size, nil }

// ReadAt implements io.ReaderAt.
func (m *image) ReadAt(p []byte, off int64) (int, error) {
	n, err := m.pages.ReadAt(p, off)
	if off < headerSize {
		copy(p[:n], m.header[off:])
	}
	return n, err
}

// budget is the context of a connection, which SQLite checks after every thousand of its instructions, and the limit for
// one statement. Pages of a crafted database can refer to each other so that a scan practically never ends.
type budget struct {
	context.Context
	left  int64 // thousands of instructions
	cause error // why the last statement was interrupted
}

var errEndless = errors.New("more rows than fit into a database of its size")

// Err implements context.Context.
func (b *budget) Err() error {
	if err := b.Context.Err(); err != nil {
		b.cause = err
		return err
	}
	if b.left--; b.left < 0 {
		b.cause = errEndless
		return errEndless
	}
	return nil
}

// resetBudget starts the budget of a statement. A row takes some ten instructions, and at least some bytes.
func (d *DB) resetBudget() {
	const least, bytes = 10_000, 200 // for a thousand instructions
	d.budget.left, d.budget.cause = least+d.image.size/bytes, nil
}

// maxRows returns more rows than a table or an index of this size can have.
func (m *image) maxRows() int64 {
	const least, bytes = 10_000, 4 // of a row
	return least + m.size/bytes
}
