package mutate

import (
	"encoding/binary"
	"math/rand/v2"
)

// SQLite are the damages of a database that know its format: the header, the pages, the records.
func SQLite() []Func {
	return []Func{header, header, pageHeader, pageHeader, cellPointer, cellPointer, cellStart, cellStart, overflow, zeroPage, swapPages, schemaText, cutPage}
}

// WAL are the damages of a database's write-ahead log.
func WAL() []Func { return []Func{walHeader, walFrame, walFrame, walCut, flip, zero, empty} }

// field writes a number over one that the format has there. Numbers are those at which readers stumble.
func field(r *rand.Rand, raw []byte, at, width int) {
	if at < 0 || at+width > len(raw) {
		return
	}
	n := pick(r, []uint64{0, 1, 2, 3, 7, 0xff, 0x7fff, 0x8000, 0xffff, 0x7fffffff, 0x80000000, 0xffffffff, uint64(len(raw)), uint64(r.Uint32())})
	switch width {
	case 1:
		raw[at] = byte(n)
	case 2:
		binary.BigEndian.PutUint16(raw[at:], uint16(n))
	case 4:
		binary.BigEndian.PutUint32(raw[at:], uint32(n))
	}
}

// header changes a field of the file's first hundred bytes.
func header(r *rand.Rand, raw []byte) ([]byte, string) {
	f := pick(r, [][2]int{
		{16, 2}, {18, 1}, {19, 1}, {20, 1}, {21, 1}, {22, 1}, {23, 1}, {24, 4}, {28, 4}, {32, 4}, {36, 4}, {40, 4}, {44, 4}, {52, 4}, {56, 4}, {92, 4}, {96, 4}, {0, 1},
	})
	field(r, raw, f[0], f[1])
	return raw, "database header"
}

// page returns where a page's b-tree header begins, and the page's bounds.
func page(r *rand.Rand, raw []byte) (head, from, to int) {
	size := pageSize(raw)
	if size == 0 || len(raw) < size {
		return 0, 0, len(raw)
	}
	n := r.IntN(len(raw) / size)
	if r.IntN(3) == 0 {
		n = r.IntN(min(len(raw)/size, 8)) // the schema and the roots
	}
	from, to = n*size, (n+1)*size
	if head = from; n == 0 {
		head = 100
	}
	return head, from, to
}

// pageSize is the size of the pages, 0 if the header does not say.
func pageSize(raw []byte) int {
	if len(raw) < 100 {
		return 0
	}
	size := int(binary.BigEndian.Uint16(raw[16:]))
	if size == 1 {
		size = 65536
	}
	if size < 512 || size&(size-1) != 0 {
		return 0
	}
	return size
}

// pageHeader changes a page's kind, its number of cells, or its right-most child.
func pageHeader(r *rand.Rand, raw []byte) ([]byte, string) {
	head, _, _ := page(r, raw)
	f := pick(r, [][2]int{{0, 1}, {1, 2}, {3, 2}, {5, 2}, {7, 1}, {8, 4}})
	if f[0] == 0 && head < len(raw) {
		raw[head] = pick(r, []byte{0, 2, 5, 10, 13, 255})
	} else {
		field(r, raw, head+f[0], f[1])
	}
	return raw, "page header"
}

// cells returns where the pointers of a page's cells are, and how many there are.
func cells(raw []byte, head, to int) (first, n int) {
	if head+12 > len(raw) {
		return 0, 0
	}
	first = head + 8
	if raw[head] == 2 || raw[head] == 5 {
		first = head + 12
	}
	return first, min(int(binary.BigEndian.Uint16(raw[head+3:])), (to-first)/2)
}

// cellPointer points a cell elsewhere.
func cellPointer(r *rand.Rand, raw []byte) ([]byte, string) {
	head, _, to := page(r, raw)
	if first, n := cells(raw, head, to); n > 0 {
		field(r, raw, first+2*r.IntN(n), 2)
	}
	return raw, "cell pointer"
}

// cellStart changes the first bytes of a cell: the child page, or the lengths of the payload and of the record's header, which
// are variable-length integers.
func cellStart(r *rand.Rand, raw []byte) ([]byte, string) {
	head, from, to := page(r, raw)
	first, n := cells(raw, head, to)
	if n == 0 {
		return raw, "cell"
	}
	at := first + 2*r.IntN(n)
	if at+2 > len(raw) {
		return raw, "cell"
	}
	at = from + int(binary.BigEndian.Uint16(raw[at:])) + r.IntN(12)
	for i := range 1 + r.IntN(9) {
		if at+i < min(to, len(raw)) {
			raw[at+i] = byte(0x80 | r.Uint32())
		}
	}
	return raw, "cell"
}

// overflow changes the last four bytes of a cell's page, where the chains of long values begin, or makes a page its own next.
func overflow(r *rand.Rand, raw []byte) ([]byte, string) {
	_, from, to := page(r, raw)
	if to-from >= 4 && from+4 <= len(raw) {
		n := uint32(r.IntN(len(raw)/max(1, to-from)+2)) + 1
		if r.IntN(2) == 0 {
			n = uint32(from/max(1, to-from)) + 1
		}
		binary.BigEndian.PutUint32(raw[from:], n)
	}
	return raw, "overflow chain"
}

func zeroPage(r *rand.Rand, raw []byte) ([]byte, string) {
	_, from, to := page(r, raw)
	clear(raw[from:min(to, len(raw))])
	return raw, "page of zeros"
}

func swapPages(r *rand.Rand, raw []byte) ([]byte, string) {
	_, a, aTo := page(r, raw)
	_, b, bTo := page(r, raw)
	if aTo <= len(raw) && bTo <= len(raw) && aTo-a == bTo-b {
		old := append([]byte(nil), raw[a:aTo]...)
		copy(raw[a:aTo], raw[b:bTo])
		copy(raw[b:bTo], old)
	}
	return raw, "swap pages"
}

// schemaText damages the statements that created the tables.
func schemaText(r *rand.Rand, raw []byte) ([]byte, string) {
	for range 1 + r.IntN(10) {
		if n := min(len(raw), 4*max(512, pageSize(raw))); n > 100 {
			raw[100+r.IntN(n-100)] ^= 0x20
		}
	}
	return raw, "schema"
}

// cutPage ends the file at a page's end.
func cutPage(r *rand.Rand, raw []byte) ([]byte, string) {
	_, from, _ := page(r, raw)
	return raw[:from], "pages gone"
}

func walHeader(r *rand.Rand, raw []byte) ([]byte, string) {
	field(r, raw, 4*r.IntN(8), 4)
	return raw, "log header"
}

// walFrame changes a field of a frame's header.
func walFrame(r *rand.Rand, raw []byte) ([]byte, string) {
	if len(raw) < 32 {
		return raw, "log frame"
	}
	size := int(binary.BigEndian.Uint32(raw[8:])) + 24
	if size < 24 || size > len(raw) {
		return raw, "log frame"
	}
	field(r, raw, 32+size*r.IntN(max(1, (len(raw)-32)/size))+4*r.IntN(6), 4)
	return raw, "log frame"
}

func walCut(r *rand.Rand, raw []byte) ([]byte, string) {
	from, _ := span(r, raw, 1)
	return raw[:from], "log cut off"
}
