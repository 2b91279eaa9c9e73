package sqlite

import (
	"unicode/utf8"

	"github.com/ncruces/go-sqlite3"
)

// Row is a row of a table, or a result row of a statement. It is valid until the next row is read from the same table or
// statement, and so are the bytes that it returns. A column that does not exist, as in databases of older versions of a
// program, is null.
type Row struct {
	*statement
	table *Table // nil for a result row of a statement
	rowid int64
}

// Int returns the value as CAST(column AS INTEGER) does; 0 for null.
func (r *Row) Int(column string) (n int64) {
	r.value(column, func(i int) { n = r.stmt.ColumnInt64(i) })
	return n
}

// Real returns the value as CAST(column AS REAL) does; 0 for null.
func (r *Row) Real(column string) (f float64) {
	r.value(column, func(i int) { f = r.stmt.ColumnFloat(i) })
	return f
}

// Text returns at most limit characters of the value as CAST(column AS TEXT) does; "" for null. It reads no more of the
// value than they can take.
func (r *Row) Text(column string, limit int) string { return string(r.TextBytes(column, limit)) }

// TextBytes is Text in memory of the row, which must not be written to.
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

// Bytes returns the whole value as CAST(column AS TEXT) does; nil for null, and for a value of more than limit bytes, of
// which only the length is read. It must not be written to.
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

// inline returns the value if the row has it; long is true for a value that must be read from the table.
func (r *Row) inline(column string) (b []byte, long bool) {
	r.value(column, func(i int) {
		b = r.stmt.ColumnRawBlob(i)                                                  // does not convert a blob
		long = r.table != nil && len(b) == 0 && r.stmt.ColumnType(i) == sqlite3.BLOB // see [DB.Table]
	})
	return b, long
}

// value calls read with the number of a column if the row has that column.
func (r *Row) value(column string, read func(i int)) {
	i, ok := r.columns[column]
	if !ok || r.db.err != nil {
		return
	}
	defer func() { r.db.fail(recovered(recover())) }()
	read(i)
	r.db.fail(r.stmt.Err())
}
