package sqlite

import "bytes"

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

// holds reports whether a text is in the span.
func (s *span) holds(text []byte) bool {
	return string(text) >= s.from && (string(text) < s.to || s.closed && string(text) == s.to)
}

// search goes through the entries of an index whose first value is in a span, and, where that is one text, whose next values
// come before others.
type search struct {
	cursor
	span   span
	before []value // of the columns that follow
	entry  record
	bound  []byte // what entries are compared with: the beginning of the span, or its end
	closed bool   // entries with just that text stand before it
	short  int    // the size of entries that are whole on a page for certain, of one byte
}

// up and down yield the rowids of the entries, in their order and in the opposite one.
func (s *search) up(yield func(rowid int64) bool) {
	s.boundBy(s.span.from, false)
	if !s.seek(s) || !s.settle() {
		return
	}
	s.boundBy(s.span.to, s.span.closed)
	for n := s.top(); s.precedes(&n.node, n.at) && s.take(yield) && s.next(); {
		n = s.top()
	}
}

func (s *search) down(yield func(rowid int64) bool) {
	s.boundBy(s.span.to, s.span.closed)
	if !s.seek(s) {
		return
	}
	s.boundBy(s.span.from, false)
	for s.prev() {
		if n := s.top(); s.precedes(&n.node, n.at) || !s.take(yield) {
			return
		}
	}
}

func (s *search) boundBy(text string, closed bool) {
	s.bound, s.closed = append(s.bound[:0], text...), closed
}

// precedes reports whether an entry stands before the bound. An unreadable one does not: nobody looks any further.
//
// Most entries begin with a short text, and stand on the page whole with sizes of one byte. Of these nothing but that text is
// looked at, where it stands: a search compares many that it has no other use for.
func (s *search) precedes(n *node, i int) bool {
	page := n.page()
	if page == nil {
		return false
	}
	at := n.entry(page, i)
	if at+2 >= len(page) {
		return s.db.damaged("an index entry is cut off")
	}
	order, size, header, letters := 1, int(page[at]), int(page[at+1]), uint(page[at+2])-textSerial
	if end := at + 1 + header + int(letters/2); size <= s.short && at+size < len(page) &&
		header > 1 && letters < 0x80-textSerial && letters%2 == 0 && end <= at+1+size {
		order = bytes.Compare(page[at+1+header:end], s.bound)
	} else if s.read(n, i) {
		order = s.entry.compare(0, s.bound)
	}
	return order < 0 || order == 0 && s.closed && (len(s.before) == 0 || s.read(n, i) && s.comesBefore())
}

// read takes the entry of a cell.
func (s *search) read(n *node, i int) bool {
	page := n.page()
	if page == nil {
		return false
	}
	size, at := varint(page, n.entry(page, i))
	if at > len(page) {
		return s.db.damaged("an index entry is cut off")
	}
	return s.entry.set(page[at:], size, true) && s.entry.parse()
}

// entry is where the entry of a cell begins on the page, with its size.
func (n *node) entry(page []byte, i int) int {
	if n.leaf {
		return n.cell(page, i)
	}
	return n.cell(page, i) + 4
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
