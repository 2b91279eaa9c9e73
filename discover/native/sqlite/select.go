package sqlite

import (
	"iter"
	"slices"
)

// Table is a table of a database.
type Table struct {
	db          *DB
	name        string
	root        uint32
	columns     []column
	byName      map[string]int // by names in lower case
	following   []asked        // the column that was asked for after each
	next        *asked         // of following, that after the column that was asked for last
	rowidColumn int            // the column that is the rowid itself; -1 for none
	indexes     []index
	plans       []*plan
	cursor      cursor // where the last row was found by its rowid
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
	plan   *plan
	span   span
	before []value // of the first of the columns that the rows are ordered by: they end there
	most   int     // rows; 0 for all
}

// Range is the rows whose column holds a text that is not less than from and less than to, byte by byte, in the order
// of that column.
func (t *Table) Range(column, from, to string) Selection {
	return Selection{plan: t.plan(column), span: span{from: from, to: to}}
}

// Equal is the rows whose column holds just that text, in the order of other columns. It is found by an index where
// there is one that has column first; one that has the others next spares sorting.
func (t *Table) Equal(column, text string, order ...string) Selection {
	return Selection{plan: t.plan(column, order...), span: span{from: text, to: text, closed: true}}
}

// Most is no more of the rows than n, the first ones of the order in which they are asked for.
func (s Selection) Most(n int) Selection {
	s.most = n
	return s
}

// Before is the rows of a selection by Equal that come before those with these values, an int64 or a string each, in the
// first columns of its order. Its Down goes on where an earlier look ended, for what it takes.
func (s Selection) Before(values ...any) Selection {
	s.before = nil
	for _, v := range values[:min(len(values), len(s.plan.columns)-1)] {
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
	return s.plan.table.at(func(yield func(rowid int64) bool) { s.rowids(back, yield) })
}

// Texts yields what the column of the rows holds, at most limit bytes of it, in their order and each text once. No row is read
// where an index has them.
func (s Selection) Texts(limit int64) iter.Seq[string] {
	return func(yield func(string) bool) {
		last, first := "", true
		text := func(b []byte) bool {
			if string(b) == last && !first {
				return true
			}
			last, first = string(b), false
			return yield(last)
		}
		if s.plan.index == nil {
			for r := range s.Up() {
				if !text(r.value(s.plan.columns[0], limit).bytes) {
					return
				}
			}
			return
		}
		found := s.plan.search()
		defer s.plan.done(found)
		found.span, found.before = s.span, s.before
		found.up(func(int64) bool {
			n := found.top()
			return found.read(&n.node, n.at) && text(found.entry.at(0, limit).bytes)
		})
	}
}

// In yields the rows whose column holds one of the texts, one row for each, in the order in which they stand in the table: those
// of one page are read together.
func (t *Table) In(column string, texts []string) iter.Seq[*Row] {
	return t.at(func(yield func(rowid int64) bool) {
		found := make([]int64, 0, len(texts))
		for _, text := range slices.Sorted(slices.Values(texts)) {
			t.Equal(column, text).Most(1).rowids(false, func(rowid int64) bool {
				found = append(found, rowid)
				return true
			})
		}
		slices.Sort(found)
		for _, rowid := range slices.Compact(found) {
			if !yield(rowid) {
				return
			}
		}
	})
}

// at yields the rows with the rowids that an index has.
func (t *Table) at(rowids func(yield func(rowid int64) bool)) iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		r := t.row()
		defer t.done(r)
		rowids(func(rowid int64) bool {
			if !r.seek(rowid) {
				return t.db.damaged("an index of %s names a row that is not there", t.name)
			}
			return yield(r)
		})
	}
}

// rowids yields those of the rows in their order, as an index has them where there is one for it.
func (s Selection) rowids(back bool, yield func(rowid int64) bool) {
	if s.plan.err != nil {
		s.plan.table.db.fail(s.plan.err)
		return
	}
	if n := 0; s.most > 0 {
		all := yield
		yield = func(rowid int64) bool {
			n++
			return all(rowid) && n < s.most
		}
	}
	found := s.plan.search()
	if found == nil {
		s.sorted(back, yield)
		return
	}
	defer s.plan.done(found)
	found.span, found.before = s.span, s.before
	if back {
		found.down(yield)
	} else {
		found.up(yield)
	}
}

// sorted finds the rows by another index or by looking at all, and sorts them. What it keeps of them is what they are
// sorted by.
func (s Selection) sorted(back bool, yield func(rowid int64) bool) {
	keys := s.keys()
	slices.SortFunc(keys, func(a, b sortKey) int {
		if back {
			a, b = b, a
		}
		return a.compare(b)
	})
	for _, k := range keys {
		if s.plan.table.db.err != nil || !yield(k.rowid) {
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
	by := s.plan.columns
	if len(by) > 1 {
		by = by[1:]
	}
	var out []sortKey
	for r := range s.unsorted() {
		k := sortKey{rowid: r.rowid}
		for _, name := range by {
			v := r.value(name, maxKey)
			v.bytes = slices.Clone(v.bytes) // they are the row's
			k.values = append(k.values, v)
		}
		if len(s.before) == 0 || k.comesBefore(s.before) {
			out = append(out, k)
		}
	}
	return out
}

// unsorted yields the rows whose column is in the span.
func (s Selection) unsorted() iter.Seq[*Row] {
	table, name := s.plan.table, s.plan.columns[0]
	if by := table.plan(name); by.index != nil {
		return Selection{plan: by, span: s.span}.Up()
	}
	return func(yield func(*Row) bool) {
		column := table.columnIndex(name)
		for r := range table.Rows() {
			if s.holds(r, column) && !yield(r) {
				return
			}
		}
	}
}

// holds reports whether a row is one of those that are asked for.
func (s *Selection) holds(r *Row, column int) bool {
	var v value
	r.loadAt(&v, column, int64(max(len(s.span.from), len(s.span.to)))+1)
	return v.kind == textKind && s.span.holds(v.bytes)
}
