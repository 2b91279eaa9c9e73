package discover

import (
	"cmp"
	"iter"
	"slices"
	"time"
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

// sorted brings sessions into the order of [Compare], in place. Sessions are large: what is sorted is what mostly
// decides, and then each session moves once.
func sorted(list []Session) []Session {
	type place struct {
		live     bool
		activity time.Time
		from     int
	}
	order := make([]place, len(list))
	for i := range list {
		order[i] = place{list[i].Status.Live(), list[i].Activity(), i}
	}
	slices.SortFunc(order, func(a, b place) int {
		if a.live == b.live {
			if newer := b.activity.Compare(a.activity); newer != 0 {
				return newer
			}
		}
		return Compare(list[a.from], list[b.from])
	})
	for i := range order {
		// The session that belongs here may have made room for another one since.
		from := order[i].from
		for from < i {
			from = order[from].from
		}
		list[i], list[from] = list[from], list[i]
	}
	return list
}

// byID are records in an order in which those of one agent's id stand together.
type byID []*Record

// byName orders records. Of one read twice, the one with the newer activity counts. Records are large: only their order
// is sorted.
func byName(lists [][]Record) byID {
	n := 0
	for _, list := range lists {
		n += len(list)
	}
	order := make(byID, 0, n)
	for _, list := range lists {
		for i := range list {
			order = append(order, &list[i])
		}
	}
	slices.SortStableFunc(order, func(a, b *Record) int {
		if a.ID != b.ID { // as almost all
			return cmp.Compare(a.ID, b.ID)
		}
		return cmp.Or(cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Path, b.Path), b.Updated.Compare(a.Updated))
	})
	return slices.CompactFunc(order, func(a, b *Record) bool { return a.ID == b.ID && a.Key() == b.Key() })
}

// groups yields the records of one agent's id together.
func (n byID) groups() iter.Seq[[]*Record] {
	return func(yield func([]*Record) bool) {
		for len(n) > 0 {
			end := 1
			for end < len(n) && n[end].ID == n[0].ID && n[end].Agent == n[0].Agent {
				end++
			}
			if !yield(n[:end]) {
				return
			}
			n = n[end:]
		}
	}
}
