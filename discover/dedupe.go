package discover

import (
	"cmp"
	"slices"
)

// recordID is the ID of a record, which records in several places may share.
type recordID struct {
	agent Agent
	id    string
}

// dedupe returns the records, each session once and in no order, and those that share an ID, by ID. Of a record that was read
// twice the newer one stays. Of records in several files those stay whose file exists, unless none does: a session that moves
// while it is read is found in both places.
func dedupe(lists [][]Record, exists func(*Record) bool) (rows []*Record, several map[recordID][]*Record) {
	several = map[recordID][]*Record{}
	for _, list := range lists {
		for i := range list {
			several[list[i].recordID()] = append(several[list[i].recordID()], &list[i])
		}
	}
	for key, same := range several {
		slices.SortStableFunc(same, func(a, b *Record) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), b.Updated.Compare(a.Updated))
		})
		same = slices.CompactFunc(same, func(a, b *Record) bool { return a.Path == b.Path })
		if exists != nil && len(same) > 1 && slices.ContainsFunc(same, exists) {
			same = slices.DeleteFunc(same, func(r *Record) bool { return !exists(r) })
		}
		rows = append(rows, same...)
		if several[key] = same; len(same) == 1 {
			delete(several, key)
		}
	}
	return rows, several
}

func (r *Record) recordID() recordID { return recordID{r.Agent, r.ID} }
