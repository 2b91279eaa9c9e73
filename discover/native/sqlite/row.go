package sqlite

import (
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
)

// Row is a row of a table, or of what a statement gives. It is valid until the next one is asked for in the same place, and
// so is what it gives as bytes. A column that it does not have, as in databases of older versions of a program, is null.
type Row struct {
	*statement
	table *Table // nil for a row that a statement gives
	rowid int64
}

// Int is the value as CAST(column AS INTEGER) gives it; 0 for null.
func (r *Row) Int(column string) (n int64) {
	r.value(column, func(i int) { n = r.stmt.ColumnInt64(i) })
	return n
}

// Real is the value as CAST(column AS REAL) gives it; 0 for null.
func (r *Row) Real(column string) (f float64) {
	r.value(column, func(i int) { f = r.stmt.ColumnFloat(i) })
	return f
}

// Text is at most limit characters of the value as CAST(column AS TEXT) gives it; "" for null. Not more of the value is
// read than they can take.
func (r *Row) Text(column string, limit int) string { return string(r.TextBytes(column, limit)) }

// TextBytes is Text in memory that the row has. It must not be written to.
func (r *Row) TextBytes(column string, limit int) []byte {
	b, long := r.inline(column)
	if long {
		b = r.table.blobPrefix(column, r.rowid, int64(limit)*utf8.UTFMax)
	}
	if len(b) <= limit {
		return b
	}
	at := 0
	for n := 0; n < limit && at < len(b); n++ {
		_, size := utf8.DecodeRune(b[at:])
		at += size
	}
	return b[:at]
}

// Bytes is the value as CAST(column AS TEXT) gives it, whole; nil for null, and for one of more than limit bytes, of
// which nothing but the length is read. It must not be written to.
func (r *Row) Bytes(column string, limit int64) []byte {
	b, long := r.inline(column)
	if long {
		return r.table.blob(column, r.rowid, limit)
	}
	if int64(len(b)) > limit {
		return nil
	}
	return b
}

// inline is the value if the row has it at hand. A long one is read by its table.
func (r *Row) inline(column string) (b []byte, long bool) {
	r.value(column, func(i int) {
		b = r.stmt.ColumnRawBlob(i)                                                  // which leaves a blob what it is
		long = r.table != nil && len(b) == 0 && r.stmt.ColumnType(i) == sqlite3.BLOB // see [DB.Table]
	})
	return b, long
}

// value gives the number of a column to read, if there is that column.
func (r *Row) value(column string, read func(i int)) {
	i, ok := r.columns[column]
	if !ok || r.db.err != nil {
		return
	}
	defer func() { r.db.fail(recovered(recover())) }()
	read(i)
	r.db.fail(r.stmt.Err())
}
