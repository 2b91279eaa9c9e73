package sqlite

import (
	"bytes"
	"math"
)

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

// textSerial is the type of an empty text; that of a text with n bytes is 2n more.
const textSerial = 13

// maxHeader is the most bytes of a record's header: SQLite allows 32767 columns at most.
const maxHeader = 32768 * 9

// parse finds the values; it is false after a failure.
func (r *record) parse() bool {
	r.cells = r.cells[:0]
	head := r.read(0, min(r.size, 9))
	size, at := varint(head, 0)
	if at > len(head) || size < uint64(at) || size > uint64(min(r.size, maxHeader)) {
		return r.db.damaged("a record without a header")
	}
	if head = r.read(0, int64(size)); head == nil {
		return false
	}
	cells, off := r.cells, int64(size)
	for at < len(head) {
		serial, next := uint64(head[at]), at+1
		if serial >= 0x80 {
			serial, next = varint(head, at)
		}
		if next > len(head) || serial == 10 || serial == 11 {
			return r.db.damaged("a record's header is malformed")
		}
		cells = append(cells, cell{serial, off})
		length := serialLength(serial)
		if length > uint64(r.size-off) {
			return r.db.damaged("a value reaches over the end of its record")
		}
		off, at = off+int64(length), next
	}
	r.cells = cells
	return true
}

func serialLength(serial uint64) uint64 {
	if serial >= 12 {
		return (serial - 12) / 2
	}
	return uint64([...]uint8{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}[serial])
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
	n := signed(b)
	if c.serial == 7 {
		*v = real(math.Float64frombits(uint64(n)))
	} else {
		v.kind, v.n = intKind, n
	}
}

// signed is an integer as it is stored: big-endian, and its first byte has the sign.
func signed(b []byte) int64 {
	n := int64(int8(b[0]))
	for _, x := range b[1:] {
		n = n<<8 | int64(x)
	}
	return n
}

// compare tells whether a value sorts before, as or after a text: null, numbers, texts byte by byte, blobs.
func (r *record) compare(i int, text []byte) int {
	if i >= len(r.cells) {
		return -1
	}
	switch serial := r.cells[i].serial; {
	case serial < 12:
		return -1
	case serial%2 == 0:
		return 1
	}
	return bytes.Compare(r.at(i, int64(len(text))+1).bytes, text)
}

// varint decodes an integer of one to nine bytes (1.6), and says where the next byte is: behind the end if the bytes end before
// the integer does.
func varint(b []byte, at int) (v uint64, next int) {
	for end := min(at+8, len(b)); at < end; at++ {
		if v = v<<7 | uint64(b[at]&0x7f); b[at] < 0x80 {
			return v, at + 1
		}
	}
	if at >= len(b) {
		return 0, len(b) + 1
	}
	return v<<8 | uint64(b[at]), at + 1
}
