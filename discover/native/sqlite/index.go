package sqlite

import "sort"

// index is an index of a table whose columns are all sorted upwards and byte by byte.
type index struct {
	root    uint32
	columns []string // lower case
}

// span is a range of texts: from ≤ text < to.
type span struct{ from, to string }

// side tells where an index entry stands: before the span, in it, or after it.
func (s span) side(entry *record, column int) int {
	switch {
	case entry.compare(column, s.from) < 0:
		return -1
	case entry.compare(column, s.to) >= 0:
		return 1
	}
	return 0
}

// sideOf is side of a text that is at hand.
func (s span) sideOf(text []byte) int {
	switch {
	case string(text) < s.from: // strings.Compare would need a copy
		return -1
	case string(text) >= s.to:
		return 1
	}
	return 0
}

// search goes through the entries of an index whose first value is in a span, and, where that is one text, whose next values
// come before others.
type search struct {
	walk
	span   span
	before []value // of the columns that follow
	back   bool
	entry  record
	yield  func(rowid int64) bool
}

// cell is that of an entry, from the size of the entry on.
func (s *search) cell(n *node, i int) []byte {
	cell := n.cell(i)
	if !n.leaf {
		cell = cell[min(4, len(cell)):]
	}
	return cell
}

// read takes the entry of a cell.
func (s *search) read(n *node, i int) bool {
	cell := s.cell(n, i)
	size, k := varint(cell)
	if k == 0 {
		return s.db.damaged("an index entry is cut off")
	}
	return s.entry.set(cell[k:], size, true) && s.entry.parse()
}

// side is that of an entry; an unreadable one is after the span, where nobody looks any further.
func (s *search) side(n *node, i int) int {
	if text := s.leadingText(s.cell(n, i)); text != nil {
		if side := s.span.sideOf(text); side != 0 || len(s.before) == 0 {
			return side
		}
	}
	if !s.read(n, i) {
		return 1
	}
	if side := s.span.side(&s.entry, 0); side != 0 || len(s.before) == 0 || s.comesBefore() {
		return side
	}
	return 1
}

// comesBefore reports whether the entry that was read last comes before what the search ends with.
func (s *search) comesBefore() bool {
	for i, v := range s.before {
		if 1+i >= len(s.entry.cells) {
			return true
		}
		if c := s.entry.at(1+i, maxKey).compare(v); c != 0 {
			return c < 0
		}
	}
	return false
}

// leadingText is the first value of an entry, where that is a text and stands on the page whole; else nil. Nothing else of
// the entry is looked at: a search compares many that it has no other use for.
func (s *search) leadingText(cell []byte) []byte {
	size, k := varint(cell)
	header, h := varint(cell[k:])
	serial, m := varint(cell[k+h:])
	if k == 0 || h == 0 || m == 0 || serial < 13 || serial%2 == 0 || header < uint64(h+m) || size > uint64(len(cell)) {
		return nil
	}
	from, to := uint64(k)+header, uint64(k)+header+serialLength(serial)
	if from > to || to > uint64(k)+uint64(s.db.local(int64(size), true)) || to > uint64(len(cell)) {
		return nil
	}
	return cell[from:to]
}

// below yields the rowids below a page; it is false where there is nothing more to come.
func (s *search) below(page uint32, depth int) bool {
	n, ok := s.node(page, 1, depth)
	if !ok {
		return false
	}
	if s.back {
		return s.downwards(&n, depth)
	}
	return s.upwards(&n, depth)
}

func (s *search) upwards(n *node, depth int) bool {
	first := sort.Search(n.cells, func(i int) bool { return s.side(n, i) >= 0 })
	for i := first; i < n.cells; i++ {
		if !s.child(n, i, depth) || s.side(n, i) > 0 || !s.take(n, i) {
			return false
		}
	}
	return s.child(n, n.cells, depth)
}

func (s *search) downwards(n *node, depth int) bool {
	after := sort.Search(n.cells, func(i int) bool { return s.side(n, i) > 0 })
	for i := after; i > 0; i-- {
		if !s.child(n, i, depth) || s.side(n, i-1) < 0 || !s.take(n, i-1) {
			return false
		}
	}
	return s.child(n, 0, depth)
}

func (s *search) child(n *node, i, depth int) bool {
	return n.leaf || s.below(n.child(i), depth+1)
}

// take yields an entry's rowid, which is its last value.
func (s *search) take(n *node, i int) bool {
	if !s.read(n, i) || s.db.err != nil {
		return false
	}
	rowid := s.entry.at(len(s.entry.cells)-1, 0)
	if rowid.kind != intKind {
		return s.db.damaged("an index entry without a rowid")
	}
	return s.yield(rowid.n)
}
