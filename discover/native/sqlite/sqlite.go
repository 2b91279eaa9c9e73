// Package sqlite reads the tables of an SQLite database from its pages, by the documented file format
// (sqlite.org/fileformat2.html, numbers of sections below are its). It knows no files, no locks and no log: where the
// pages come from, and that all are of one moment, is its caller's business. There is no SQL in it but the texts of
// CREATE statements, which are how the format says what the columns of a table are.
package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// DB is a database at one moment. It is read-only and used by one goroutine at a time.
//
// Its first failure stays: whatever is asked for afterwards is empty, and [DB.Err] tells why. So rows and values need
// no errors of their own, and nobody may believe what was read before he has asked for Err.
type DB struct {
	src      io.ReaderAt
	size     int64
	pageSize int
	usable   int // of a page: some programs keep bytes at its end
	pages    uint32
	// The most bytes of a row, and of an entry of an index, that stand on a page whole.
	wholeRow, wholeEntry int64

	cache  cache
	schema []entry
	err    error
}

// Sizes of the format (1.3). The usable size may not be less than 480 bytes, so that four cells fit on a page.
const (
	headerSize = 100
	usualPage  = 4096
	minUsable  = 480
	utf8Text   = 1
)

// errDamaged is in every error that the bytes of a database are to blame for.
var errDamaged = errors.New("damaged database")

// Open reads the header and the schema of the database whose size bytes are in src. An empty one has no tables.
func Open(src io.ReaderAt, size int64) (*DB, error) {
	d := &DB{src: src, size: size}
	if size == 0 {
		return d, nil
	}
	first := make([]byte, min(size, usualPage))
	n, err := src.ReadAt(first, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if n < headerSize {
		return nil, fmt.Errorf("%w: no header", errDamaged)
	}
	if err := d.readHeader(first[:n]); err != nil {
		return nil, err
	}
	if d.pageSize <= n {
		p := d.room(1)
		copy(p.page, first)
		p.number = 1
	}
	d.readSchema()
	return d, d.err
}

// readHeader takes page size, reserved bytes and text encoding (1.3.2, 1.3.4, 1.3.13).
func (d *DB) readHeader(h []byte) error {
	if d.pageSize = int(binary.BigEndian.Uint16(h[16:])); d.pageSize == 1 {
		d.pageSize = 65536
	}
	d.usable = d.pageSize - int(h[20])
	if d.pageSize < 512 || d.pageSize&(d.pageSize-1) != 0 || d.usable < minUsable {
		return fmt.Errorf("%w: page size %d, %d of it usable", errDamaged, d.pageSize, d.usable)
	}
	d.wholeRow, d.wholeEntry = int64(d.usable)-35, int64(d.usable-12)*64/255-23
	// 0 stands in a database without any table.
	if code := binary.BigEndian.Uint32(h[56:]); code > utf8Text {
		return fmt.Errorf("text encoding %d: only UTF-8 is read", code)
	}
	d.pages = uint32(min(d.size/int64(d.pageSize), 1<<32-2))
	d.cache = newCache(d.pageSize)
	return nil
}

// Err is the first failure: a read that failed, damage, or a question that the schema has no answer to.
func (d *DB) Err() error { return d.err }

// fail keeps the first failure. It is false, for callers that end with it.
func (d *DB) fail(err error) bool {
	if d.err == nil {
		d.err = err
	}
	return false
}

func (d *DB) damaged(format string, args ...any) bool {
	return d.fail(fmt.Errorf("%w: "+format, append([]any{errDamaged}, args...)...))
}

// Tables returns the names of the tables, without views.
func (d *DB) Tables() []string {
	var out []string
	for _, e := range d.schema {
		if e.kind == "table" {
			out = append(out, e.name)
		}
	}
	return out
}

// Table finds a table by its name. It is an error if there is none, or one of a sort that is not read: virtual, without
// rowid, or with generated columns.
func (d *DB) Table(name string) (*Table, error) {
	i := slices.IndexFunc(d.schema, func(e entry) bool { return e.kind == "table" && strings.EqualFold(e.name, name) })
	if i < 0 {
		return nil, fmt.Errorf("no such table: %s", name)
	}
	t, err := d.bind(d.schema[i])
	if err != nil {
		return nil, fmt.Errorf("table %s: %w", name, err)
	}
	return t, nil
}
