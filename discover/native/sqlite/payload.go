package sqlite

import "encoding/binary"

// payload is the content of a cell: what is on the page itself, and the chain of overflow pages with the rest (1.6).
type payload struct {
	db       *DB
	size     int64
	local    []byte // a copy
	overflow uint32
	chain    []uint32 // the overflow pages known so far, in order
}

// set takes size bytes that begin in the cell.
func (p *payload) set(cell []byte, size uint64, index bool) bool {
	if size > uint64(p.db.size) {
		return p.db.damaged("a record of %d bytes", size)
	}
	p.size, p.overflow, p.chain = int64(size), 0, p.chain[:0]
	local := p.db.local(p.size, index)
	need := local
	if local < p.size {
		need += 4
	}
	if int64(len(cell)) < need {
		return p.db.damaged("a record reaches over the end of its page")
	}
	if p.local = append(p.local[:0], cell[:local]...); need > local {
		p.overflow = binary.BigEndian.Uint32(cell[local:])
	}
	return true
}

// local is how many bytes of a payload are on the page itself.
func (d *DB) local(size int64, index bool) int64 {
	most := d.wholeRow
	if index {
		most = d.wholeEntry
	}
	if size <= most {
		return size
	}
	usable := int64(d.usable)
	least := (usable-12)*32/255 - 23
	if n := least + (size-least)%(usable-4); n <= most {
		return n
	}
	return least
}

// read gives n bytes from off on, without a copy where they are all on the page; nil after a failure. They are valid until
// the next set.
func (p *payload) read(off, n int64) []byte {
	if off+n <= int64(len(p.local)) {
		return p.local[off : off+n]
	}
	return p.gather(off, n)
}

// gather is read for what goes on behind the page.
func (p *payload) gather(off, n int64) []byte {
	if off > p.size-n {
		p.db.damaged("a value reaches over the end of its record")
		return nil
	}
	on := int64(len(p.local))
	out := make([]byte, 0, n)
	if off < on {
		out = append(out, p.local[off:]...)
	}
	per := int64(p.db.usable - 4)
	for int64(len(out)) < n {
		at, rest := off+int64(len(out))-on, n-int64(len(out))
		page := p.link(int(at/per), int((at%per+rest+per-1)/per))
		if page == nil {
			return nil
		}
		out = append(out, page[4+at%per:][:min(per-at%per, rest)]...)
	}
	return out
}

// link gives an overflow page of the chain. As many as run are expected to follow it in the file, as they do where they
// were written at once. A chain that runs in a circle ends with the size of the payload.
func (p *payload) link(i, run int) []byte {
	for len(p.chain) <= i {
		next := p.overflow
		if n := len(p.chain); n > 0 {
			last := p.db.page(p.chain[n-1], i-n+2)
			if last == nil {
				return nil
			}
			next = binary.BigEndian.Uint32(last)
		}
		if next == 0 {
			p.db.damaged("a record ends early")
			return nil
		}
		p.chain = append(p.chain, next)
	}
	return p.db.page(p.chain[i], run)
}
