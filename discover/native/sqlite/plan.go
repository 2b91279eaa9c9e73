package sqlite

import (
	"fmt"
	"slices"
	"strings"
)

// plan is how one question about a table is answered, mostly again and again.
type plan struct {
	table *Table
	// columns are the one that is asked about, and those that the rows are ordered by if it is the same in all.
	columns []string
	index   *index // one that begins with the columns; nil for none
	err     error  // why there is no answer
	free    []*search
}

// plan makes the plan of a question when it is asked for the first time.
func (t *Table) plan(column string, order ...string) *plan {
	for _, p := range t.plans {
		if p.columns[0] == column && slices.Equal(p.columns[1:], order) {
			return p
		}
	}
	p := &plan{table: t, columns: append([]string{column}, order...)}
	p.index, p.err = t.indexOf(p.columns), t.check(p.columns)
	t.plans = append(t.plans, p)
	return p
}

// check makes sure that the table has the columns, and that they are compared byte by byte.
func (t *Table) check(columns []string) error {
	for _, name := range columns {
		i := t.columnIndex(name)
		if i < 0 {
			return fmt.Errorf("table %s has no column %s", t.name, name)
		}
		if collation := t.columns[i].collation; collation != "" {
			return fmt.Errorf("table %s: column %s has the collation %s", t.name, name, collation)
		}
	}
	return nil
}

// indexOf finds an index that begins with the columns; nil for none.
func (t *Table) indexOf(columns []string) *index {
	for i := range t.indexes {
		has := t.indexes[i].columns
		if len(has) >= len(columns) && slices.EqualFunc(has[:len(columns)], columns, strings.EqualFold) {
			return &t.indexes[i]
		}
	}
	return nil
}

// search is a search of the index, where there is one, that begins where an earlier one ended. It is given back by done: a
// loop inside of a loop has one of its own.
func (p *plan) search() *search {
	if p.index == nil {
		return nil
	}
	if n := len(p.free); n > 0 {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		return s
	}
	db := p.table.db
	return &search{
		cursor: cursor{db: db, root: p.index.root, index: true},
		entry:  record{payload: payload{db: db}, cells: make([]cell, 0, len(p.index.columns)+1)},
		short:  int(min(db.wholeEntry, 0x7f)),
	}
}

func (p *plan) done(s *search) { p.free = append(p.free, s) }
