package sqlite

import (
	"fmt"
	"iter"
	"slices"
	"strings"
)

// Table is a table of a database.
type Table struct {
	db          *DB
	name        string
	root        uint32
	columns     []column
	byName      map[string]int // by names in lower case
	rowidColumn int            // the column that is the rowid itself; -1 for none
	indexes     []index
	free        []*Row
}

// Rows yields all rows in the order of their rowids.
func (t *Table) Rows() iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		w := walk{db: t.db}
		r := t.row()
		defer t.done(r)
		w.rows(t.root, 1, 0, r, yield)
	}
}

// row is memory for the rows of a loop, which gives it back when it is done: most loops are short.
func (t *Table) row() *Row {
	if n := len(t.free); n > 0 {
		r := t.free[n-1]
		t.free = t.free[:n-1]
		return r
	}
	return &Row{table: t, record: record{payload: payload{db: t.db}, cells: make([]cell, 0, len(t.columns))}}
}

func (t *Table) done(r *Row) { t.free = append(t.free, r) }

// Selection is some of a table's rows, in an order.
type Selection struct {
	table *Table
	span  span
	// columns are the one that is in the span, and those that the rows are ordered by if it is the same in all.
	columns []string
	before  []value // of the first of those that the rows are ordered by: the rows end there
}

// Range is the rows whose column holds a text that is not less than from and less than to, byte by byte, in the order
// of that column.
func (t *Table) Range(column, from, to string) Selection {
	return Selection{table: t, span: span{from, to}, columns: []string{column}}
}

// Equal is the rows whose column holds just that text, in the order of other columns. It is found by an index where
// there is one that has column first; one that has the others next spares sorting.
func (t *Table) Equal(column, text string, order ...string) Selection {
	return Selection{table: t, span: span{text, text + "\x00"}, columns: append([]string{column}, order...)}
}

// Before is the rows of a selection by Equal that come before those with these values, an int64 or a string each, in the
// first columns of its order. Its Down goes on where an earlier look ended, for what it takes.
func (s Selection) Before(values ...any) Selection {
	s.before = nil
	for _, v := range values[:min(len(values), len(s.columns)-1)] {
		switch v := v.(type) {
		case int64:
			s.before = append(s.before, integer(v))
		case string:
			s.before = append(s.before, text(v[:min(len(v), maxKey)]))
		}
	}
	return s
}

// Up yields the rows in their order.
func (s Selection) Up() iter.Seq[*Row] { return s.rows(false) }

// Down yields the rows in the opposite order.
func (s Selection) Down() iter.Seq[*Row] { return s.rows(true) }

// First is the first row; nil for none.
func (s Selection) First() *Row { return first(s.Up()) }

// Last is the last row; nil for none.
func (s Selection) Last() *Row { return first(s.Down()) }

// first is the first of some rows, as one that stays.
func first(rows iter.Seq[*Row]) *Row {
	for r := range rows {
		own := *r
		own.local, own.cells, own.chain = slices.Clone(r.local), slices.Clone(r.cells), slices.Clone(r.chain)
		return &own
	}
	return nil
}

func (s Selection) rows(back bool) iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		if !s.valid() {
			return
		}
		if i, ok := s.index(s.columns); ok {
			s.byIndex(i, back, yield)
			return
		}
		s.sorted(back, yield)
	}
}

// valid reports whether the table has the columns, and they are compared byte by byte.
func (s Selection) valid() bool {
	for _, name := range s.columns {
		i, ok := s.table.columnIndex(name)
		if !ok {
			return s.table.db.fail(fmt.Errorf("table %s has no column %s", s.table.name, name))
		}
		if s.table.columns[i].collation != "" {
			return s.table.db.fail(fmt.Errorf("table %s: column %s has the collation %s", s.table.name, name, s.table.columns[i].collation))
		}
	}
	return true
}

// index finds one that begins with the columns.
func (s Selection) index(columns []string) (index, bool) {
	for _, i := range s.table.indexes {
		if len(i.columns) >= len(columns) && slices.EqualFunc(i.columns[:len(columns)], columns, strings.EqualFold) {
			return i, true
		}
	}
	return index{}, false
}

// byIndex yields the rows as an index has them.
func (s Selection) byIndex(i index, back bool, yield func(*Row) bool) {
	r := s.table.row()
	defer s.table.done(r)
	s.rowids(i, back, func(rowid int64) bool {
		if !r.seek(rowid) {
			return s.table.db.damaged("an index of %s names a row that is not there", s.table.name)
		}
		return yield(r)
	})
}

func (s Selection) rowids(i index, back bool, yield func(rowid int64) bool) {
	found := search{walk: walk{db: s.table.db, index: true}, span: s.span, before: s.before, back: back, yield: yield}
	found.entry = record{payload: payload{db: s.table.db}, cells: make([]cell, 0, len(i.columns)+1)}
	found.below(i.root, 0)
}

// sorted finds the rows by another index or by looking at all, and sorts them. What it keeps of them is what they are
// sorted by.
func (s Selection) sorted(back bool, yield func(*Row) bool) {
	keys := s.keys()
	slices.SortFunc(keys, func(a, b sortKey) int {
		if back {
			a, b = b, a
		}
		return a.compare(b)
	})
	r := s.table.row()
	defer s.table.done(r)
	for _, k := range keys {
		if s.table.db.err != nil || !r.seek(k.rowid) || !yield(r) {
			return
		}
	}
}

// sortKey is what a row is sorted by; last by its rowid.
type sortKey struct {
	values []value
	rowid  int64
}

func (a sortKey) compare(b sortKey) int {
	for i, v := range a.values {
		if c := v.compare(b.values[i]); c != 0 {
			return c
		}
	}
	return compareNumbers(integer(a.rowid), integer(b.rowid))
}

// comesBefore reports whether a row comes before those with these values.
func (a sortKey) comesBefore(values []value) bool {
	for i, v := range values {
		if c := a.values[i].compare(v); c != 0 {
			return c < 0
		}
	}
	return false
}

// maxKey is how many bytes of a text or blob decide about the order.
const maxKey = 4096

func (s Selection) keys() []sortKey {
	by := s.columns
	if len(by) > 1 {
		by = by[1:]
	}
	var out []sortKey
	add := func(r *Row) bool {
		k := sortKey{rowid: r.rowid}
		for _, name := range by {
			v := r.value(name, maxKey)
			v.bytes = slices.Clone(v.bytes) // they are the row's
			k.values = append(k.values, v)
		}
		if len(s.before) == 0 || k.comesBefore(s.before) {
			out = append(out, k)
		}
		return true
	}
	if i, ok := s.index(s.columns[:1]); ok {
		all := s
		all.before = nil // the index has other columns next
		all.byIndex(i, false, add)
		return out
	}
	column, _ := s.table.columnIndex(s.columns[0])
	for r := range s.table.Rows() {
		if s.holds(r, column) {
			add(r)
		}
	}
	return out
}

// holds reports whether a row is one of those that are asked for.
func (s Selection) holds(r *Row, column int) bool {
	if column < len(r.cells) {
		return column != s.table.rowidColumn && s.span.side(&r.record, column) == 0
	}
	v := r.valueAt(column, maxKey)
	return v.kind == textKind && string(v.bytes) >= s.span.from && string(v.bytes) < s.span.to
}
