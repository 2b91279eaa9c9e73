package sqlite

import (
	"bytes"
	"math"
)

// Value is a column's value with the type that it is stored with: nil, int64, float64, string or []byte.
func (r *Row) Value(column string) any {
	switch v := r.value(column, math.MaxInt64); v.kind {
	case intKind:
		return v.n
	case realKind:
		return v.f
	case textKind:
		return string(v.bytes)
	case blobKind:
		return bytes.Clone(v.bytes)
	}
	return nil
}

// RowID is the number of the row in its table.
func (r *Row) RowID() int64 { return r.rowid }

// Shrink leaves room for a few pages only, as if the database were much larger.
func (d *DB) Shrink(pages int) { d.cache.sets, d.cache.ways = make([]set, 1), pages }
