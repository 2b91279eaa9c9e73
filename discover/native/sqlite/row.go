package sqlite

import (
	"math"
	"strings"
	"unicode/utf8"
)

// Row is a row of a table. It is valid until the next one of the same loop is asked for, or the loop ends. Columns are named
// without regard to case; one that the table does not have, as in databases of older versions of a program, is null.
type Row struct {
	table *Table
	rowid int64
	record
}

// Int is the value as CAST(column AS INTEGER) gives it; 0 for null.
func (r *Row) Int(column string) int64 { return r.value(column, numberBytes).asInt() }

// Real is the value as CAST(column AS REAL) gives it; 0 for null.
func (r *Row) Real(column string) float64 { return r.value(column, numberBytes).asReal() }

// numberBytes is how much of a text is looked at where a number is asked for.
const numberBytes = 1 << 10

// Text is at most limit characters of the value as CAST(column AS TEXT) gives it; "" for null. Not more of the value is
// read than they can take.
func (r *Row) Text(column string, limit int) string {
	b := r.value(column, int64(limit)*utf8.UTFMax).asText()
	if len(b) > limit {
		at := 0
		for n := 0; n < limit && at < len(b); n++ {
			_, size := utf8.DecodeRune(b[at:])
			at += size
		}
		b = b[:at]
	}
	return string(b)
}

// Bytes is the value as CAST(column AS TEXT) gives it, whole; nil for null, and for one of more than limit bytes, of
// which nothing but the length is read. It must not be written to.
func (r *Row) Bytes(column string, limit int64) []byte {
	if i, ok := r.table.columnIndex(column); ok && i < len(r.cells) {
		if c := r.cells[i]; c.serial >= 12 && serialLength(c.serial) > uint64(limit) {
			return nil
		}
	}
	b := r.value(column, math.MaxInt64).asText()
	if int64(len(b)) > limit {
		return nil
	}
	return b
}

func (r *Row) value(column string, limit int64) value {
	if i, ok := r.table.columnIndex(column); ok {
		return r.valueAt(i, limit)
	}
	return value{}
}

// valueAt is the value of a column: the rowid where the column is another name of it, its default where the column was
// added after the row was written.
func (r *Row) valueAt(i int, limit int64) value {
	switch c := &r.table.columns[i]; {
	case r.db.err != nil:
		return value{}
	case i == r.table.rowidColumn:
		return integer(r.rowid)
	case i >= len(r.cells):
		if c.badDefault != "" {
			r.db.fail(errDefault(r.table.name, c))
		}
		return c.initial
	case c.affinity == realAffinity:
		// Whole numbers are stored as integers, which take less room.
		if v := r.at(i, limit); v.kind != intKind {
			return v
		} else {
			return real(float64(v.n))
		}
	}
	return r.at(i, limit)
}

// Has reports whether the table has a column of that name.
func (t *Table) Has(column string) bool {
	_, ok := t.columnIndex(column)
	return ok
}

// columnIndex finds a column by its name.
func (t *Table) columnIndex(name string) (int, bool) {
	i, ok := t.byName[name]
	if !ok {
		i, ok = t.byName[strings.ToLower(name)]
	}
	return i, ok
}
