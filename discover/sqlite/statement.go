package sqlite

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/ncruces/go-sqlite3"
)

// statement is a prepared statement. One that is used again inside of its own loop is prepared twice.
type statement struct {
	db      *DB
	stmt    *sqlite3.Stmt
	columns map[string]int
	rows    int64 // so far
	row     Row
}

// statement prepares a statement, or returns an idle one; nil if it cannot be prepared.
func (d *DB) statement(sql string) *statement {
	if d.err != nil {
		return nil
	}
	d.resetBudget()
	if list := d.idleStatements[sql]; len(list) > 0 {
		d.idleStatements[sql] = list[:len(list)-1]
		return list[len(list)-1]
	}
	s := &statement{db: d, columns: map[string]int{}}
	s.row = Row{statement: s}
	ok := d.try(func() (err error) {
		if s.stmt, _, err = d.conn.Prepare(sql); err != nil {
			return err
		}
		d.statements = append(d.statements, s.stmt)
		for i := range s.stmt.ColumnCount() {
			s.columns[s.stmt.ColumnName(i)] = i
		}
		return nil
	})
	if !ok {
		return nil
	}
	return s
}

// bind sets the arguments.
func (s *statement) bind(args []any) {
	for i, arg := range args {
		s.db.try(func() error {
			switch v := arg.(type) {
			case int64:
				return s.stmt.BindInt64(i+1, v)
			case string:
				return s.stmt.BindText(i+1, v)
			}
			return fmt.Errorf("argument %d of %q is of the type %T", i+1, s.stmt.SQL(), arg)
		})
	}
}

// step moves to the next row; it returns false if there is none, or if it cannot be read.
func (s *statement) step() (ok bool) {
	if s.db.err != nil {
		return false
	}
	const least, bytes = 10_000, 4 // of a row: no table or index of this size has so many
	if s.rows++; s.rows > least+s.db.image.size/bytes {
		s.db.fail(errEndless)
		return false
	}
	s.db.budget.left++ // SQLite checks the context once more for each step
	return s.db.try(func() error {
		ok = s.stmt.Step()
		return s.stmt.Err()
	}) && ok
}

// reset prepares the statement for another use. Its error is that of the last step, which is recorded already.
func (s *statement) reset() {
	defer func() { _ = recover() }()
	_ = s.stmt.Reset()
	s.rows = 0
}

// release makes the statement idle.
func (s *statement) release() {
	s.reset()
	sql := s.stmt.SQL()
	s.db.idleStatements[sql] = append(s.db.idleStatements[sql], s)
}

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
