package sqlite

import (
	"errors"
	"io"
)

const (
	cacheBytes = 1 << 20
	cachePages = 64 // at least
	// maxRun is the most pages that are read at once.
	maxRun = 16
)

// cache keeps the pages that were read last. One that was asked for again stays for another round, as the upper pages of
// a tree do. The memory of the others is used again: see [DB.page].
type cache struct {
	pages map[uint32]*cached
	ring  []*cached
	next  int
	turn  int    // how often memory was given away: what was a page before may be another one since
	run   []byte // where several pages are read to
}

type cached struct {
	number uint32
	page   []byte
	again  bool
}

func newCache(pageSize int) cache {
	return cache{pages: map[uint32]*cached{}, ring: make([]*cached, max(cacheBytes/pageSize, cachePages))}
}

// room gives memory for a page, which is not in the cache until keep puts it there.
func (c *cache) room(pageSize int) *cached {
	for c.ring[c.next] != nil && c.ring[c.next].again {
		c.ring[c.next].again = false
		c.next = (c.next + 1) % len(c.ring)
	}
	p := c.ring[c.next]
	if p == nil {
		p = &cached{page: make([]byte, pageSize)}
		c.ring[c.next] = p
	}
	delete(c.pages, p.number) // no page has the number 0
	p.number = 0
	c.turn++
	return p
}

func (c *cache) keep(p *cached, number uint32) {
	p.number, c.pages[number] = number, p
	c.next = (c.next + 1) % len(c.ring)
}

// page gives the usable bytes of a page, which are valid until the next page is asked for; nil after a failure. As many
// as run pages from it on are read at once, since they are expected to be asked for next; 0 is for one that was asked for
// already, and need not be kept for that.
func (d *DB) page(number uint32, run int) []byte {
	if d.err != nil {
		return nil
	}
	if p := d.cache.pages[number]; p != nil {
		p.again = p.again || run > 0
		return p.page[:d.usable]
	}
	if number == 0 || number > d.pages {
		d.damaged("no page %d of %d", number, d.pages)
		return nil
	}
	if n := d.unknown(number, run); n > 1 {
		return d.readRun(number, n)
	}
	p := d.cache.room(d.pageSize)
	if d.readAt(p.page, number) == 0 {
		return nil
	}
	d.cache.keep(p, number)
	return p.page[:d.usable]
}

// readRun reads n pages with one call, and gives the first.
func (d *DB) readRun(number uint32, n int) []byte {
	if d.cache.run == nil {
		d.cache.run = make([]byte, maxRun*d.pageSize)
	}
	got := d.readAt(d.cache.run[:n*d.pageSize], number)
	for i := range got {
		p := d.cache.room(d.pageSize)
		copy(p.page, d.cache.run[i*d.pageSize:])
		d.cache.keep(p, number+uint32(i))
	}
	if got == 0 {
		return nil
	}
	return d.cache.run[:d.usable]
}

// readAt reads pages and returns how many there were; it is a failure if there is none.
func (d *DB) readAt(p []byte, number uint32) int {
	n, err := d.src.ReadAt(p, int64(number-1)*int64(d.pageSize))
	if n < d.pageSize {
		if err == nil || errors.Is(err, io.EOF) {
			d.damaged("page %d is cut off", number)
		}
		d.fail(err)
	}
	return n / d.pageSize
}

// unknown is how many pages from one on, at least it and at most run, are there and not in the cache.
func (d *DB) unknown(number uint32, run int) int {
	n := 1
	for n < min(run, maxRun) && number+uint32(n) <= d.pages && d.cache.pages[number+uint32(n)] == nil {
		n++
	}
	return n
}
