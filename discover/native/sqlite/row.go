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
func (r *Row) Int(column string) int64 {
	var v value
	r.load(&v, column, numberBytes)
	return v.asInt()
}

// Real is the value as CAST(column AS REAL) gives it; 0 for null.
func (r *Row) Real(column string) float64 {
	var v value
	r.load(&v, column, numberBytes)
	return v.asReal()
}

// numberBytes is how much of a text is looked at where a number is asked for.
const numberBytes = 1 << 10

// Text is at most limit characters of the value as CAST(column AS TEXT) gives it; "" for null. Not more of the value is
// read than they can take.
func (r *Row) Text(column string, limit int) string { return string(r.TextBytes(column, limit)) }

// TextBytes is Text in the memory of the row. It must not be written to.
func (r *Row) TextBytes(column string, limit int) []byte {
	var v value
	r.load(&v, column, int64(limit)*utf8.UTFMax)
	b := v.asText()
	if len(b) > limit {
		at := 0
		for n := 0; n < limit && at < len(b); n++ {
			_, size := utf8.DecodeRune(b[at:])
			at += size
		}
		b = b[:at]
	}
	return b
}

// Bytes is the value as CAST(column AS TEXT) gives it, whole; nil for null, and for one of more than limit bytes, of
// which nothing but the length is read. It must not be written to.
func (r *Row) Bytes(column string, limit int64) []byte {
	i := r.table.columnIndex(column)
	if i < 0 || i < len(r.cells) && r.cells[i].serial >= 12 && serialLength(r.cells[i].serial) > uint64(limit) {
		return nil
	}
	var v value
	r.loadAt(&v, i, math.MaxInt64)
	b := v.asText()
	if int64(len(b)) > limit {
		return nil
	}
	return b
}

// value is the value of a column.
func (r *Row) value(column string, limit int64) (v value) {
	r.load(&v, column, limit)
	return v
}

// load puts the value of a column into v, which is null.
func (r *Row) load(v *value, column string, limit int64) {
	if i := r.table.columnIndex(column); i >= 0 {
		r.loadAt(v, i, limit)
	}
}

// loadAt does so with the number of the column: the rowid where the column is another name of it, its default where the column
// was added after the row was written.
func (r *Row) loadAt(v *value, i int, limit int64) {
	switch c := &r.table.columns[i]; {
	case r.db.err != nil:
	case i == r.table.rowidColumn:
		*v = integer(r.rowid)
	case i >= len(r.cells):
		if c.badDefault != "" {
			r.db.fail(errDefault(r.table.name, c))
		}
		*v = c.initial
	default:
		r.record.load(v, i, limit)
		if c.affinity == realAffinity && v.kind == intKind {
			*v = real(float64(v.n)) // whole numbers are stored as integers, which take less room
		}
	}
}

// Has reports whether the table has a column of that name.
func (t *Table) Has(column string) bool {
	return t.columnIndex(column) >= 0
}

// columnIndex finds a column by its name; it is -1 where there is none. Of every row the same columns are asked for one after
// the other, so that the one that followed the last one before is tried first.
func (t *Table) columnIndex(name string) int {
	if f := t.next; f.name == name {
		t.next = f.next
		return f.column
	}
	return t.lookUp(name)
}

func (t *Table) lookUp(name string) int {
	i, ok := t.byName[name]
	if !ok {
		i, ok = t.byName[strings.ToLower(name)]
	}
	if !ok {
		return -1
	}
	*t.next = asked{name, i, &t.following[i]}
	t.next = t.next.next
	return i
}

// asked is a column as it was asked for: to compare a name with itself takes no look at its letters.
type asked struct {
	name   string
	column int
	next   *asked // what was asked for after it
}
