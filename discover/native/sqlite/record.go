package sqlite

import "math"

// record is a payload in the record format (2.1): a header with the type of each value, then the values.
type record struct {
	payload
	cells []cell
}

// cell is where a value stands in its record.
type cell struct {
	serial uint64
	off    int64
}

// maxHeader is the most bytes of a record's header: SQLite allows 32767 columns at most.
const maxHeader = 32768 * 9

// parse finds the values; it is false after a failure.
func (r *record) parse() bool {
	r.cells = r.cells[:0]
	head := r.read(0, min(r.size, 9))
	size, n := varint(head)
	if n == 0 || size < uint64(n) || size > uint64(min(r.size, maxHeader)) {
		return r.db.damaged("a record without a header")
	}
	if head = r.read(0, int64(size)); head == nil {
		return false
	}
	off := int64(size)
	for head = head[n:]; len(head) > 0; head = head[n:] {
		var serial uint64
		if serial, n = varint(head); n == 0 || serial == 10 || serial == 11 {
			return r.db.damaged("a record's header is malformed")
		}
		r.cells = append(r.cells, cell{serial, off})
		length := serialLength(serial)
		if length > uint64(r.size-off) {
			return r.db.damaged("a value reaches over the end of its record")
		}
		off += int64(length)
	}
	return true
}

func serialLength(serial uint64) uint64 {
	switch {
	case serial >= 12:
		return (serial - 12) / 2
	case serial >= 8:
		return 0
	case serial == 7:
		return 8
	}
	return [...]uint64{0, 1, 2, 3, 4, 6, 8}[serial]
}

// at is load for a value that is needed once.
func (r *record) at(i int, limit int64) (v value) {
	r.load(&v, i, limit)
	return v
}

// load decodes a value, at most limit bytes of a text or blob; null after a failure. It is put into v, which is null: moving
// values about would take longer than decoding them.
func (r *record) load(v *value, i int, limit int64) {
	c := r.cells[i]
	length := int64(serialLength(c.serial))
	if c.serial >= 12 {
		if b := r.read(c.off, min(length, limit)); b != nil {
			v.kind, v.bytes, v.size = blobKind, b, length
			if c.serial%2 == 1 {
				v.kind = textKind
			}
		}
		return
	}
	switch c.serial {
	case 0:
		return
	case 8, 9:
		v.kind, v.n = intKind, int64(c.serial-8)
		return
	}
	b := r.read(c.off, length)
	if b == nil {
		return
	}
	n := int64(int8(b[0])) // big-endian, and its first byte has the sign
	for _, x := range b[1:] {
		n = n<<8 | int64(x)
	}
	if c.serial == 7 {
		*v = real(math.Float64frombits(uint64(n)))
	} else {
		v.kind, v.n = intKind, n
	}
}

// compare tells whether a value sorts before, as or after a text: null, numbers, texts byte by byte, blobs.
func (r *record) compare(i int, text string) int {
	if i >= len(r.cells) {
		return -1
	}
	switch serial := r.cells[i].serial; {
	case serial < 12:
		return -1
	case serial%2 == 0:
		return 1
	}
	switch v := r.at(i, int64(len(text))+1).bytes; { // strings.Compare would need a copy
	case string(v) < text:
		return -1
	case string(v) > text:
		return 1
	}
	return 0
}

// varint decodes an integer of one to nine bytes (1.6) and says how many there were; 0 if the bytes end before it does.
func varint(b []byte) (v uint64, n int) {
	if len(b) > 0 && b[0] < 0x80 { // as most are
		return uint64(b[0]), 1
	}
	return longVarint(b)
}

// varintLength is how many bytes there are alone.
func varintLength(b []byte) int {
	for i, x := range b[:min(len(b), 9)] {
		if x < 0x80 || i == 8 {
			return i + 1
		}
	}
	return 0
}

func longVarint(b []byte) (v uint64, n int) {
	for i, x := range b[:min(len(b), 9)] {
		if i == 8 {
			return v<<8 | uint64(x), 9
		}
		if v = v<<7 | uint64(x&0x7f); x < 0x80 {
			return v, i + 1
		}
	}
	return 0, 0
}
