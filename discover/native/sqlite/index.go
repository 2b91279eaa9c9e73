package sqlite

// index is an index of a table whose columns are all sorted upwards and byte by byte.
type index struct {
	root    uint32
	columns []string // lower case
}

// span is a range of texts: from ≤ text < to, or, where it is closed, from ≤ text ≤ to.
type span struct {
	from, to string
	closed   bool
}

// precedes and follows tell of a text that is outside of the span on which side of it.
func (s *span) precedes(text []byte) bool { return string(text) < s.from } // strings.Compare would need a copy

func (s *span) follows(text []byte) bool {
	return string(text) > s.to || !s.closed && string(text) == s.to
}

// precedesIn and followsIn tell it of a value of a record.
func (s *span) precedesIn(r *record, column int) bool { return r.compare(column, s.from) < 0 }

func (s *span) followsIn(r *record, column int) bool {
	c := r.compare(column, s.to)
	return c > 0 || !s.closed && c == 0
}

// search goes through the entries of an index whose first value is in a span, and, where that is one text, whose next values
// come before others.
type search struct {
	cursor
	span   span
	before []value // of the columns that follow
	entry  record
}

// up and down yield the rowids of the entries, in their order and in the opposite one.
func (s *search) up(yield func(rowid int64) bool) {
	if !s.seek(s.precedes) || !s.settle() {
		return
	}
	for n := s.top(); !s.follows(&n.node, n.at) && s.take(yield) && s.next(); {
		n = s.top()
	}
}

func (s *search) down(yield func(rowid int64) bool) {
	if !s.seek(func(n *node, i int) bool { return !s.follows(n, i) }) {
		return
	}
	for s.prev() {
		if n := s.top(); s.precedes(&n.node, n.at) || !s.take(yield) {
			return
		}
	}
}

// entryIn is a cell from the size of its entry on.
func entryIn(n *node, i int) []byte {
	cell := n.cell(i)
	if !n.leaf {
		cell = cell[min(4, len(cell)):]
	}
	return cell
}

// read takes the entry of a cell.
func (s *search) read(n *node, i int) bool {
	cell := entryIn(n, i)
	size, k := varint(cell)
	if k == 0 {
		return s.db.damaged("an index entry is cut off")
	}
	return s.entry.set(cell[k:], size, true) && s.entry.parse()
}

// precedes reports whether an entry stands before those that are searched for.
func (s *search) precedes(n *node, i int) bool {
	if text := s.leadingText(entryIn(n, i)); text != nil {
		return s.span.precedes(text)
	}
	return s.read(n, i) && s.span.precedesIn(&s.entry, 0)
}

// follows reports whether an entry stands behind those that are searched for. An unreadable one does: nobody looks any
// further.
func (s *search) follows(n *node, i int) bool {
	text := s.leadingText(entryIn(n, i))
	if text != nil && s.span.follows(text) {
		return true
	}
	if text != nil && (len(s.before) == 0 || s.span.precedes(text)) {
		return false
	}
	if !s.read(n, i) || s.span.followsIn(&s.entry, 0) {
		return true
	}
	return len(s.before) > 0 && !s.span.precedesIn(&s.entry, 0) && !s.comesBefore()
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

// leadingText is the first value of an entry, where that is a text and the entry stands on the page whole; else nil. Nothing
// else of the entry is looked at: a search compares many that it has no other use for.
func (s *search) leadingText(cell []byte) []byte {
	size, k := varint(cell)
	if k == 0 || size > uint64(s.db.wholeEntry) || size > uint64(len(cell)-k) {
		return nil
	}
	entry := cell[k : k+int(size)]
	header, h := varint(entry)
	serial, m := varint(entry[h:])
	if m == 0 || serial < 13 || serial%2 == 0 || header < uint64(h+m) || header > size {
		return nil
	}
	values := entry[header:]
	if length := serialLength(serial); length <= uint64(len(values)) {
		return values[:length]
	}
	return nil
}

// take yields the rowid of the entry that the search is at, which is its last value.
func (s *search) take(yield func(rowid int64) bool) bool {
	n := s.top()
	if !s.read(&n.node, n.at) {
		return false
	}
	last := len(s.entry.cells) - 1
	if last < 0 {
		return s.db.damaged("an empty index entry")
	}
	var rowid value
	if s.entry.load(&rowid, last, 0); rowid.kind != intKind {
		return s.db.damaged("an index entry without a rowid")
	}
	return s.db.err == nil && yield(rowid.n)
}
