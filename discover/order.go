package discover

import (
	"cmp"
	"encoding/binary"
	"iter"
	"runtime"
	"slices"
	"sync"
)

// Compare orders sessions for people: live ones first, then by newest activity; what is left is ordered by name so
// that two looks at the same world give the same list.
func Compare(a, b Session) int {
	if a.Status.Live() != b.Status.Live() {
		return map[bool]int{true: -1, false: 1}[a.Status.Live()]
	}
	return cmp.Or(
		b.Activity().Compare(a.Activity()),
		cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Path, b.Path), cmp.Compare(a.pid(), b.pid()),
	)
}

// sorted brings sessions into the order of [Compare].
func sorted(list []Session) []Session {
	order := make(ranking, len(list))
	for i := range list {
		order[i] = rank(&list[i])
	}
	out := make([]Session, len(list))
	for i, p := range order.sorted() {
		out[i] = *p.Session
	}
	return out
}

// place is a session on its way into the order of [Compare], or the record of one that no claim speaks of. Sessions are
// large: what is sorted is what mostly decides, and then each session is made, or moved, once.
type place struct {
	live     bool
	activity int64 // milliseconds
	*Session
	record *Record
}

func rank(s *Session) place {
	return place{live: s.Status.Live(), activity: s.Activity().UnixMilli(), Session: s, record: s.Record}
}

// rankStored is the place of a record that no claim speaks of: it has stopped.
func rankStored(e entered) place { return place{activity: e.activity, record: e.Record} }

type ranking []place

func (r ranking) sorted() ranking {
	slices.SortFunc(r, func(a, b place) int {
		if a.live == b.live && a.activity != b.activity {
			return cmp.Compare(b.activity, a.activity)
		}
		return Compare(a.session(), b.session())
	})
	return r
}

// session is the session that a place is for, as far as its order goes.
func (p place) session() Session {
	if p.Session != nil {
		return *p.Session
	}
	return Session{Record: p.record, Status: Stopped}
}

// apart does something for each of n numbers, of many on all cores: what thousands of records hold lies all over the memory.
func apart(n int, do func(i int)) {
	const few = 1024
	share := max(few, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var others sync.WaitGroup
	for from := share; from < n; from += share {
		others.Go(func() {
			for i := from; i < min(from+share, n); i++ {
				do(i)
			}
		})
	}
	for i := range min(share, n) {
		do(i)
	}
	others.Wait()
}

// byID are records in an order in which those of one agent's id stand together.
type byID []entered

// entered is a record with what mostly decides where it belongs: records are large, and lie all over the memory.
type entered struct {
	tail     uint64 // of the ID
	from     int    // in the lists, as if they were one
	activity int64  // as in [place]
	*Record
}

// byName orders records. Of one read twice, the one with the newer activity counts.
func byName(lists [][]Record) byID {
	n := 0
	for _, list := range lists {
		n += len(list)
	}
	order := make(byID, 0, n)
	for _, list := range lists {
		for i := range list {
			order = append(order, entered{from: len(order), Record: &list[i]})
		}
	}
	apart(len(order), func(i int) {
		e := &order[i]
		e.tail, e.activity = tail(e.ID), e.Record.activity().UnixMilli()
	})
	slices.SortFunc(order, func(a, b entered) int {
		if a.tail != b.tail { // as almost all
			return cmp.Compare(a.tail, b.tail)
		}
		return cmp.Or(
			cmp.Compare(a.ID, b.ID), cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Path, b.Path), b.Updated.Compare(a.Updated),
			cmp.Compare(a.from, b.from),
		)
	})
	return slices.CompactFunc(order, func(a, b entered) bool { return a.named(b) && a.Path == b.Path })
}

// named reports whether both have one agent's id.
func (e entered) named(as entered) bool {
	return e.tail == as.tail && e.ID == as.ID && e.Agent == as.Agent
}

// tail is the last bytes of an ID as a number. There IDs differ: many begin with the time.
func tail(id string) uint64 {
	var b [8]byte
	copy(b[:], id[max(0, len(id)-len(b)):])
	return binary.NativeEndian.Uint64(b[:])
}

// groups yields the records of one agent's id together.
func (n byID) groups() iter.Seq[byID] {
	return func(yield func(byID) bool) {
		for len(n) > 0 {
			end := 1
			for end < len(n) && n[end].named(n[0]) {
				end++
			}
			if !yield(n[:end]) {
				return
			}
			n = n[end:]
		}
	}
}
