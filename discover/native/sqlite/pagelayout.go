package sqlite

import "encoding/binary"

// layout is how the pages of a database are divided (sqlite.org/fileformat2.html, 1.3 and 1.6). Only pages of tables are read by it.
type layout struct {
	pageSize, usable int64 // bytes of a page, and those of them that SQLite uses
	count            int64 // pages
}

// Types of the pages of tables.
const (
	innerPage = 5
	leafPage  = 13
)

// layout returns the layout of the database. It has no pages if the header names no valid size.
func (m *image) layout() layout {
	l := layout{pageSize: headerPageSize(&m.header)}
	if validPageSize(l.pageSize) {
		l.usable, l.count = l.pageSize-int64(m.header[reservedAt]), m.size/l.pageSize
	}
	return l
}

func be32(b []byte) uint32 { return binary.BigEndian.Uint32(b) }

// cells returns the offsets of a page's cells, two bytes each; it is not ok for a page of another type. Page 1, which begins with the
// header of the database, is of no type.
func (l layout) cells(page []byte, kind byte) (offsets []byte, ok bool) {
	header := int64(8)
	if kind == innerPage {
		header = 12
	}
	end := header + 2*int64(binary.BigEndian.Uint16(page[3:]))
	if page[0] != kind || end > l.usable {
		return nil, false
	}
	return page[header:end], true
}

// children returns the pages below a page of a table; none for a leaf.
func (l layout) children(page []byte) (below []uint32, err error) {
	if page[0] == leafPage {
		return nil, nil
	}
	cells, ok := l.cells(page, innerPage)
	for ; ok && len(cells) > 0; cells = cells[2:] {
		at := int64(binary.BigEndian.Uint16(cells))
		if at+4 > l.usable {
			return nil, errPages
		}
		below = append(below, be32(page[at:]))
	}
	if !ok {
		return nil, errPages
	}
	return append(below, be32(page[8:])), nil
}

// cell is a row of a leaf.
type cell struct {
	rowid    int64
	size     int64  // of the record
	local    []byte // the part of the record that is in the leaf
	overflow uint32 // the first page of the rest; 0 for none
}

// cell reads the cell of a leaf at the first of these offsets.
func (l layout) cell(leaf, offsets []byte) (c cell, ok bool) {
	leaf = leaf[:l.usable]
	rest := leaf[min(int64(binary.BigEndian.Uint16(offsets)), l.usable):]
	size, n := sqliteVarint(rest)
	rowid, m := sqliteVarint(rest[n:])
	if n == 0 || m == 0 || size < 0 {
		return c, false
	}
	c.size, c.rowid, rest = size, rowid, rest[n+m:]
	local := size
	if size > l.usable-35 {
		least := (l.usable-12)*32/255 - 23
		if local = least + (size-least)%(l.usable-4); local > l.usable-35 {
			local = least
		}
	}
	if local > int64(len(rest)) {
		return c, false
	}
	if c.local = rest[:local]; local == size {
		return c, true
	}
	if int64(len(rest)) < local+4 {
		return c, false
	}
	c.overflow = be32(rest[local:])
	return c, c.overflow > 0
}

// checkRecord reports whether the sizes of a record's values add up, and whether one is null.
func checkRecord(record []byte) (hasNull, ok bool) {
	end, at := sqliteVarint(record)
	if at == 0 || end < int64(at) || end > int64(len(record)) {
		return false, false
	}
	size, rest := end, record[at:end]
	for len(rest) > 0 {
		kind, n := sqliteVarint(rest)
		if n == 0 || kind < 0 {
			return false, false
		}
		hasNull = hasNull || kind == 0
		size += valueSize(kind)
		rest = rest[n:]
	}
	return hasNull, size == int64(len(record))
}

// valueSize returns the size of a value by its type in the record.
func valueSize(kind int64) int64 {
	if kind >= 12 {
		return (kind - 12) / 2
	}
	return [...]int64{0, 1, 2, 3, 4, 6, 8, 8, 0, 0, 0, 0}[kind]
}

// sqliteVarint reads a number of 1 to 9 bytes, the highest ones first; n is 0 if it is cut off.
func sqliteVarint(b []byte) (value int64, n int) {
	var v uint64
	for i, c := range b[:min(len(b), 9)] {
		if i == 8 {
			return int64(v<<8 | uint64(c)), 9
		}
		if v = v<<7 | uint64(c&0x7f); c < 0x80 {
			return int64(v), i + 1
		}
	}
	return 0, 0
}
