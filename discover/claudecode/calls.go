package claudecode

import (
	"bytes"
	"cmp"
	"hash/maphash"
	"time"
	"unicode/utf8"

	"agentctl/discover/native"
)

// calls are the calls of the model that a session's records tell, each once. A map would do; most of the time that this
// package takes for an answer would then go into copies of its names, and into growing one map after the other.
type calls struct {
	list  []spent
	names []byte // of all calls, one after the other
	seed  maphash.Seed
	slots []int32 // 1 + where in the list a call is, at its hash or behind; at least half of them are free
	last  int     // the call that was put last
	next  []byte  // the names of the one that is put
	most  int     // how many there may be; 0: mostCalls
	full  bool    // there were more, which are left out
}

// mostCalls and mostNames bound the calls of one session, and the bytes of their names: some 70 MB in all.
const (
	mostCalls = 1 << 18
	mostNames = 32 << 20
)

// isFull reports whether no call can be added that is not known.
func (c *calls) isFull() bool {
	return len(c.list) >= cmp.Or(c.most, mostCalls) || len(c.names)+len(c.next) > mostNames
}

// spent is what a call used, and when.
type spent struct {
	usage
	at      moment
	hash    uint64
	message int // where in the names that of the message begins
	request int // the same for that of the request
	end     int
}

// put takes what a call used; what was told of it before no longer counts.
func (c *calls) put(id, request native.Value, used usage, at native.Value) {
	c.next = appendName(c.next[:0], id)
	split := len(c.next)
	c.next = appendName(c.next, request)
	// The records of one answer mostly follow each other.
	if len(c.list) == 0 || !c.is(&c.list[c.last], split) {
		at := c.find(split)
		if at < 0 {
			c.full = true
			return
		}
		c.last = at
	}
	s := &c.list[c.last]
	s.usage = used
	s.at.set(at)
}

// is reports whether a call is the one that is put, of whose names the first has this length.
func (c *calls) is(s *spent, split int) bool {
	return s.request-s.message == split && bytes.Equal(c.names[s.message:s.end], c.next)
}

// find is where the call that is put is in the list, to which it is added; -1 if there is no room for it.
func (c *calls) find(split int) int {
	if 2*(len(c.list)+1) > len(c.slots) {
		c.grow()
	}
	if c.seed == (maphash.Seed{}) {
		c.seed = maphash.MakeSeed()
	}
	hash := maphash.Bytes(c.seed, c.next)
	for slot := hash; ; slot++ {
		at := &c.slots[slot&uint64(len(c.slots)-1)]
		if *at == 0 {
			if c.isFull() {
				return -1
			}
			from := len(c.names)
			c.names = append(c.names, c.next...)
			c.list = append(c.list, spent{hash: hash, message: from, request: from + split, end: len(c.names)})
			*at = int32(len(c.list))
			return len(c.list) - 1
		}
		if s := &c.list[*at-1]; s.hash == hash && c.is(s, split) {
			return int(*at - 1)
		}
	}
}

// grow makes room for twice as many calls.
func (c *calls) grow() {
	c.slots = make([]int32, max(64, 2*len(c.slots)))
	for i := range c.list {
		slot := c.list[i].hash
		for c.slots[slot&uint64(len(c.slots)-1)] != 0 {
			slot++
		}
		c.slots[slot&uint64(len(c.slots)-1)] = int32(i + 1)
	}
}

// keptSlots is the most of them that are cleared rather than made anew, or one large session would cost all that follow.
const keptSlots = 4 << 10

// clear forgets the calls, but not their memory.
func (c *calls) clear() {
	if len(c.slots) > keptSlots {
		c.slots = nil
	}
	clear(c.slots)
	c.list, c.names, c.last, c.full = c.list[:0], c.names[:0], 0, false
}

// appendName adds what a value says, as [native.Value.Text] has it.
func appendName(to []byte, v native.Value) []byte {
	if n := plainText(v); n > 0 {
		if name := v[1 : n-1]; bytes.IndexByte(name, '\\') < 0 && utf8.Valid(name) {
			return append(to, name...)
		}
	}
	return append(to, v.Text(0)...)
}

// moment is a time that is understood when it is asked for.
type moment struct {
	text [usualTime]byte // in the usual form, in quotes; zero if it was not written so
	time time.Time
}

const usualTime = len(`"2026-11-20T19:09:28.087Z"`)

func (m *moment) set(v native.Value) {
	if len(v) >= usualTime && v[0] == '"' && string(v[usualTime-2:usualTime]) == `Z"` {
		copy(m.text[:], v)
		return
	}
	*m = moment{time: v.Time()}
}

func (m *moment) get() time.Time {
	if m.text[0] == 0 {
		return m.time
	}
	return native.Value(m.text[:]).Time()
}
