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

// precedes reports whether an entry stands before the bound. An unreadable one does not: nobody looks any further. Of a usual
// entry that begins with a short text nothing else is looked at: a search compares many that it has no other use for.
func (s *search) precedes(n *node, i int) bool {
	page := n.page()
	if page == nil {
		return false
	}
	at := n.entry(page, i)
	order, letters := 1, uint(0x80)
	size, header := s.usual(page, at)
	if size > 0 {
		letters = uint(page[at+2]) - textSerial
	}
	if letters < 0x80-textSerial && letters%2 == 0 && header+int(letters/2) <= size {
		order = bytes.Compare(page[at+1+header:][:letters/2], s.bound)
	} else if s.read(n, i) {
		order = s.entry.compare(0, s.bound)
	}
	return order < 0 || order == 0 && s.closed && (len(s.before) == 0 || s.read(n, i) && s.comesBefore())
}

// usual is the size of an entry and that of its header, if they take one byte each and it stands on the page whole, as most
// do; else 0.
func (s *search) usual(page []byte, at int) (size, header int) {
	if at+2 < len(page) {
		size, header = int(page[at]), int(page[at+1])
	}
	if size > s.short || header < 2 || header > size || at+size >= len(page) {
		return 0, 0
	}
	return size, header
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

// take yields the rowid of the entry that the search is at.
func (s *search) take(yield func(rowid int64) bool) bool {
	n := s.top()
	rowid, ok := s.rowid(&n.node, n.at)
	return ok && s.db.err == nil && yield(rowid)
}

// rowid is the last value of an entry. Of a usual one the others are not decoded, nor is the entry copied.
func (s *search) rowid(n *node, i int) (rowid int64, ok bool) {
	page := n.page()
	if page == nil {
		return 0, false
	}
	at := n.entry(page, i)
	size, header := s.usual(page, at)
	from, last, end := at+1+header, at+header, at+1+size
	for i := at + 2; i <= last; i++ {
		serial := uint64(page[i])
		length := int(serialLength(serial))
		if serial >= 0x80 || serial == 10 || serial == 11 || from+length > end {
			break
		}
		if i == last && serial > 0 && serial < 7 {
			return signed(page[from:][:length]), true
		}
		from += length
	}
	if !s.read(n, i) {
		return 0, false
	}
	values := len(s.entry.cells)
	if values == 0 {
		return 0, s.db.damaged("an empty index entry")
	}
	var v value
	if s.entry.load(&v, values-1, 0); v.kind != intKind {
		return 0, s.db.damaged("an index entry without a rowid")
	}
	return v.n, true
}
