package discover

import (
	"context"
	"slices"
	"time"
)

// Two files with the same session, such as those of a copied store or a backup beside a database, are copies of one session: they have
// one ID and one time of creation. The one with the newest activity is the session, or the one that a process runs. A user can give
// one ID to two sessions; these have begun at different times.

// copiesKey is the fact with the paths of a session's copies.
const copiesKey = "copies"

// storedCopy is what decides which of several files with one ID is the session.
type storedCopy struct {
	created, last time.Time
	live          bool
}

// mainCopies returns for each of several files with one ID the index of the one that is the session: its own, unless it is a copy.
func mainCopies(list []storedCopy) []int {
	best := map[int64]int{} // by the time of creation
	for i, c := range list {
		created := c.created.UnixNano()
		if o, ok := best[created]; !ok || c.live && !list[o].live || c.live == list[o].live && c.last.After(list[o].last) {
			best[created] = i
		}
	}
	mains := make([]int, len(list))
	for i, c := range list {
		if mains[i] = i; !c.live && !c.created.IsZero() {
			mains[i] = best[c.created.UnixNano()]
		}
	}
	return mains
}

// markCopies sets [Session.Copy], and names the copies in the session that they are copies of.
func markCopies(sessions []Session) {
	byID := map[recordID][]int{}
	for i := range sessions {
		if s := &sessions[i]; s.ID != "" && s.Path != "" {
			byID[s.recordID()] = append(byID[s.recordID()], i)
		}
	}
	for _, same := range byID {
		slices.SortFunc(same, func(a, b int) int { return Compare(sessions[a], sessions[b]) }) // whatever the order of the rows
		var list []storedCopy
		for _, i := range same {
			s := &sessions[i]
			list = append(list, storedCopy{s.Created, s.lastActivity(), s.Status.Live()})
		}
		copies := map[int][]string{}
		for i, main := range mainCopies(list) {
			if main != i {
				sessions[same[i]].Copy = true
				copies[same[main]] = append(copies[same[main]], sessions[same[i]].Path)
			}
		}
		for i, paths := range copies {
			own := *sessions[i].Record // sessions share it
			slices.Sort(paths)
			own.SetMeta(copiesKey, paths)
			sessions[i].Record = &own
		}
	}
}

// dropCopies leaves out the entries that are copies of others. It reads those that share an ID; whoever reads the rest reports what
// cannot be read.
func (scan *Scan) dropCopies(ctx context.Context, entries [][]Entry) [][]Entry {
	shared := make([][]Entry, len(entries))
	for i, list := range entries {
		count := map[string]int{}
		for _, e := range list {
			count[e.ID]++
		}
		shared[i] = slices.DeleteFunc(slices.Clone(list), func(e Entry) bool { return count[e.ID] == 1 })
	}
	if len(slices.Concat(shared...)) == 0 {
		return entries
	}
	reading := scan.emptyCopy()
	reading.readRecords(ctx, shared, ReadOptions{})
	mains := mainRecords(slices.Concat(reading.records...))
	for i := range entries {
		entries[i] = slices.DeleteFunc(entries[i], func(e Entry) bool {
			_, isCopy := mains[e.key()]
			return isCopy
		})
	}
	return entries
}

// mainRecords returns, by the key of each copy, the key of the record that is the session, by what is stored alone.
func mainRecords(records []Record) map[Key]Key {
	byID := map[recordID][]Record{}
	for _, r := range records {
		byID[r.recordID()] = append(byID[r.recordID()], r)
	}
	mains := map[Key]Key{}
	for _, same := range byID {
		var list []storedCopy
		for _, r := range same {
			list = append(list, storedCopy{created: r.Created, last: r.lastActivity()})
		}
		for i, main := range mainCopies(list) {
			if main != i {
				mains[same[i].Key()] = same[main].Key()
			}
		}
	}
	return mains
}
