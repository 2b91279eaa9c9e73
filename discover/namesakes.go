package discover

import (
	"cmp"
	"iter"
	"slices"
)

// namesakes are records in an order in which those of one agent's id stand together.
type namesakes []namesake

// namesake is a record with the place of its row.
type namesake struct {
	at int
	*Record
}

// namesakesIn orders the records of the rows at these places. Of one read twice, that with the newer activity counts: the row of
// the other one loses its record.
func namesakesIn(rows []Session, places []int) namesakes {
	all := make(namesakes, len(places))
	for i, at := range places {
		all[i] = namesake{at, rows[at].Record}
	}
	slices.SortFunc(all, func(a, b namesake) int {
		if a.ID != b.ID { // as almost all
			return cmp.Compare(a.ID, b.ID)
		}
		return cmp.Or(
			cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.Path, b.Path), b.Updated.Compare(a.Updated),
			cmp.Compare(a.at, b.at),
		)
	})
	once := all[:0]
	for _, n := range all {
		if len(once) > 0 && once[len(once)-1].Key() == n.Key() {
			rows[n.at].Record = nil
			continue
		}
		once = append(once, n)
	}
	return once
}

// groups yields the records of one agent's id together.
func (n namesakes) groups() iter.Seq[namesakes] {
	return func(yield func(namesakes) bool) {
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

// still keeps those of several that are still there, unless none is: who moves a session while it is looked for has it met in
// both places. The rows of the others lose their record.
func (n namesakes) still(rows []Session, there func(*Record) bool) namesakes {
	if len(n) < 2 {
		return n
	}
	var stay namesakes
	for _, r := range n {
		if there(r.Record) {
			stay = append(stay, r)
		}
	}
	if len(stay) == 0 {
		return n
	}
	for _, r := range n {
		if !slices.Contains(stay, r) {
			rows[r.at].Record = nil
		}
	}
	return stay
}
