package sqlite

import (
	"errors"
	"io"
)

const (
	cacheBytes = 1 << 18
	cachePages = 64 // at least
	// usualWays is how many places there are for a page.
	usualWays = 8
	// maxRun is the most pages that are read at once.
	maxRun = 16
	// upperRounds is for how many rounds the upper page of a tree stays.
	upperRounds = 8
)

// cache keeps the pages that were read last, in sets of a few places each: a page has its place in one of them. One that was
// asked for again stays for another round of its set, the upper pages of a tree for more, since there are few of them for many
// leaves. The memory of the others is used again: see [DB.page].
type cache struct {
	sets []set
	ways int    // the places of a set
	run  []byte // where several pages are read to
}

type set struct {
	places []cached
	next   int
}

type cached struct {
	number uint32 // 0, which no page has, for none
	page   []byte // its usable bytes; behind them it goes on to its size
	rounds int    // of the set that it still stays for
}

// stay keeps it for some rounds at least.
func (c *cached) stay(rounds int) { c.rounds = max(c.rounds, rounds) }

func newCache(pageSize int) cache {
	return cache{sets: make([]set, max(cacheBytes/pageSize, cachePages)/usualWays), ways: usualWays}
}

// set is where a page has its place. Neighbours have theirs in different ones.
func (c *cache) set(number uint32) *set { return &c.sets[number%uint32(len(c.sets))] }

// find gives a page that is in the cache; nil if it is not.
func (s *set) find(number uint32) *cached {
	for i := range s.places {
		if s.places[i].number == number {
			return &s.places[i]
		}
	}
	return nil
}

// room gives a place for a page, which is not in the cache until the place has its number.
func (d *DB) room(number uint32) *cached {
	s, ways := d.cache.set(number), d.cache.ways
	if s.places == nil {
		s.places = make([]cached, 0, ways) // they never move
	}
	if n := len(s.places); n < ways {
		s.places = append(s.places, cached{page: make([]byte, d.pageSize)[:d.usable]})
		return &s.places[n]
	}
	for {
		p := &s.places[s.next]
		if s.next++; s.next == ways {
			s.next = 0
		}
		if p.rounds == 0 {
			p.number = 0
			return p
		}
		p.rounds--
	}
}

// page gives the usable bytes of a page, which are valid until the next page is asked for; nil after a failure. As many
// as run pages from it on are read at once, since they are expected to be asked for next.
func (d *DB) page(number uint32, run int) []byte {
	if p := d.cached(number, run); p != nil {
		return p.page
	}
	return nil
}

// cached is page with the place where it lies, which tells how long it is valid: as long as the number there is its own. A run
// of 0 is for a page that was asked for already, and need not be kept for that.
func (d *DB) cached(number uint32, run int) *cached {
	if d.err != nil {
		return nil
	}
	if p := d.cache.set(number).find(number); p != nil && number > 0 {
		if run > 0 {
			p.stay(1)
		}
		return p
	}
	if number == 0 || number > d.pages {
		d.damaged("no page %d of %d", number, d.pages)
		return nil
	}
	if n := d.unknown(number, run); n > 1 {
		return d.readRun(number, n)
	}
	p := d.room(number)
	if d.readAt(p.page[:d.pageSize], number) == 0 {
		return nil
	}
	p.number = number
	return p
}

// readRun reads n pages with one call, and gives the first.
func (d *DB) readRun(number uint32, n int) (first *cached) {
	if d.cache.run == nil {
		d.cache.run = make([]byte, maxRun*d.pageSize)
	}
	got := d.readAt(d.cache.run[:n*d.pageSize], number)
	for i := got - 1; i >= 0; i-- { // the first comes last, since the others may take its place
		first = d.room(number + uint32(i))
		copy(first.page, d.cache.run[i*d.pageSize:])
		first.number = number + uint32(i)
	}
	return first
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
	for n < min(run, maxRun) && number+uint32(n) <= d.pages && d.cache.set(number+uint32(n)).find(number+uint32(n)) == nil {
		n++
	}
	return n
}
