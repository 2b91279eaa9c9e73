package sqlite

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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
		b = r.table.readLong(column, r.rowid, int64(limit)*utf8.UTFMax, false)
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
		return r.table.readLong(column, r.rowid, limit, true)
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
	r.db.try(func() error {
		read(i)
		return r.stmt.Err()
	})
}

// Table is a table of a database whose rows are read by rowid, as a statement finds them in an index. So an order that no
// index has is computed from keys and not from whole rows, and a damaged row does not affect the others.
type Table struct {
	db   *DB
	name string
	has  map[string]bool
	sql  string
	row  *statement // prepared at the first row
}

// longValue is the size in bytes from which a text or blob is read in pieces, and only as far as it is needed.
const longValue = 8 << 10

// Table returns one of [DB.Tables], to read these of its columns. A column that it does not have is null; see
// [Table.Has].
func (d *DB) Table(name string, columns ...string) *Table {
	t := &Table{db: d, name: name, has: map[string]bool{}}
	var list []string
	for r := range d.Query(`SELECT name, type FROM pragma_table_info(?)`, name) {
		column, kind := r.Text("name", maxName), strings.ToUpper(r.Text("type", maxName))
		if !slices.Contains(columns, column) {
			continue
		}
		t.has[column] = true
		if !strings.Contains(kind, "INT") && kind != "REAL" {
			// The length is known without reading the value.
			column = fmt.Sprintf("CASE WHEN octet_length(%[1]s) > %[2]d THEN x'' ELSE %[1]s END AS %[1]s", quote(column), longValue)
		} else {
			column = quote(column)
		}
		list = append(list, column)
	}
	t.sql = fmt.Sprintf("SELECT %s FROM %s WHERE rowid = ?", strings.Join(append(list, "1"), ", "), quote(name))
	return t
}

// quote returns a name as an SQL identifier.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }

// Has reports whether the table has a column of that name.
func (t *Table) Has(column string) bool { return t.has[column] }

// Row reads the row with a rowid; nil if it cannot be read. It is valid until the next call.
func (t *Table) Row(rowid int64) *Row {
	if t.row == nil {
		if t.row = t.db.statement(t.sql); t.row == nil {
			return nil
		}
	} else {
		t.row.reset()
		t.db.resetBudget()
	}
	t.row.bind([]any{rowid})
	damages := t.db.damages
	if !t.row.step() {
		if t.db.damages == damages {
			t.db.fail(errNoRow)
		}
		return nil
	}
	t.row.row.table, t.row.row.rowid = t, rowid
	return &t.row.row
}

// column is one column of a table.
type column struct{ table, name string }

// readLong returns at most limit bytes of a long value; nil if it cannot be read, or has more and is needed whole. It reuses the handle of
// another row of that column if there is one.
func (t *Table) readLong(name string, rowid, limit int64, whole bool) (value []byte) {
	t.db.try(func() (err error) {
		key := column{t.name, name}
		blob := t.db.blobs[key]
		if blob != nil {
			err = blob.Reopen(rowid)
		} else if blob, err = t.db.conn.OpenBlob("main", t.name, name, rowid, false); err == nil {
			t.db.blobs[key] = blob
		}
		if err == nil && !(whole && blob.Size() > limit) {
			value, err = readBlob(blob, min(limit, blob.Size()))
		}
		if err != nil && blob != nil { // the handle is unusable
			_ = blob.Close()
			delete(t.db.blobs, key)
		}
		return err
	})
	return value
}

// readBlob reads the first n bytes of a value, in pieces, which keeps the memory of SQLite small.
func readBlob(b *sqlite3.Blob, n int64) ([]byte, error) {
	const piece = 64 << 10
	value := make([]byte, n)
	if _, err := b.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	for at := int64(0); at < n; at += piece {
		if _, err := b.Read(value[at:min(at+piece, n)]); err != nil && !errors.Is(err, io.EOF) {
			return nil, err
		}
	}
	return value, nil
}
