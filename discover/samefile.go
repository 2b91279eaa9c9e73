package discover

import (
	"os"
	"path/filepath"
	"slices"
)

// place is where a session is stored: one of the names of its file or database, and the home that the name is in.
type place struct{ path, home string }

// samePlaces says which names lead to one file: one transcript seen through two homes, links or names is one session.
type samePlaces struct {
	// main is the name that counts for each other name of a session's file: that of the home named first, ours before those that
	// only processes name.
	main map[namedFile]place
	// others are the names that do not count, by the one that does.
	others map[namedFile][]string
}

type namedFile struct {
	recordID
	path string
}

// MayBeSame reports whether two rows may be one session: they have one ID, and one file under whatever name. Where the file of one is not
// known they may.
func (s Session) MayBeSame(o Session) bool {
	if s.Agent != o.Agent || s.ID == "" || s.ID != o.ID {
		return false
	}
	if s.Path == "" || o.Path == "" || s.Path == o.Path {
		return true
	}
	a, errA := os.Stat(s.Path)
	b, errB := os.Stat(o.Path)
	return errA == nil && errB == nil && os.SameFile(a, b)
}

// findSamePlaces compares the places of each session by device and inode. It opens nothing. Sessions with one place cost nothing.
func (scan *Scan) findSamePlaces(places map[recordID][]place) samePlaces {
	same := samePlaces{main: map[namedFile]place{}, others: map[namedFile][]string{}}
	for id, list := range places {
		if len(list) < 2 {
			continue
		}
		slices.SortStableFunc(list, func(a, b place) int { return scan.homeRank(id.agent, a) - scan.homeRank(id.agent, b) })
		infos := make([]os.FileInfo, len(list))
		for i, p := range list {
			infos[i], _ = os.Stat(p.path) // what cannot be looked at is a file of its own
			first := slices.IndexFunc(infos[:i], func(o os.FileInfo) bool { return o != nil && infos[i] != nil && os.SameFile(o, infos[i]) })
			if first >= 0 && list[first].path != p.path {
				key := namedFile{id, list[first].path}
				same.main[namedFile{id, p.path}] = list[first]
				same.others[key] = append(same.others[key], p.path)
			}
		}
	}
	return same
}

// homeRank orders homes: ours before those that only processes name, then as they were named.
func (scan *Scan) homeRank(agent Agent, p place) int {
	homes := scan.homes[agent]
	h, ok := homeOf(homes, p.home, p.path)
	i := slices.IndexFunc(homes, h.same)
	if !ok || i < 0 {
		return 2 * len(homes)
	}
	if h.Trust != TrustOurs {
		i += len(homes)
	}
	return i
}

// canonicalPath returns the name of a session's file in the first of the homes that share the store of the claim's home; the claim's own
// where none does.
func (scan *Scan) canonicalPath(c Claim) string {
	rel, err := filepath.Rel(c.Home, c.Path)
	if c.Session == "" || c.Path == "" || err != nil || !filepath.IsLocal(rel) {
		return c.Path
	}
	id := recordID{c.Agent, c.Session}
	places := []place{{c.Path, c.Home}}
	for _, h := range scan.homes[c.Agent] {
		if !h.FilesOnly && h.Dir != c.Home {
			places = append(places, place{filepath.Join(h.Dir, rel), h.Dir})
		}
	}
	if to, ok := scan.findSamePlaces(map[recordID][]place{id: places}).main[namedFile{id, c.Path}]; ok {
		return to.path
	}
	return c.Path
}

// homeOfPath returns the home that the file of a claim is in, by its path: the claim's own, or one that shares its store.
func (scan *Scan) homeOfPath(c Claim) string {
	for _, h := range scan.homes[c.Agent] {
		if !isBelow(c.Path, c.Home) && !h.FilesOnly && isBelow(c.Path, h.Dir) {
			return h.Dir
		}
	}
	return c.Home
}

// joinFiles makes one record of those that were read from one file under several names, and lets claims name that record.
func (scan *Scan) joinFiles() {
	places := map[recordID][]place{}
	add := func(id recordID, p place) {
		if p.path != "" && !slices.ContainsFunc(places[id], func(o place) bool { return o.path == p.path }) {
			places[id] = append(places[id], p)
		}
	}
	for _, list := range scan.records {
		for i := range list {
			add(list[i].recordID(), place{list[i].Path, list[i].Home})
		}
	}
	for _, c := range scan.claims {
		if c.Session != "" {
			add(recordID{c.Agent, c.Session}, place{c.Path, scan.homeOfPath(c)})
		}
	}
	same := scan.findSamePlaces(places)
	for name, others := range scan.otherPaths {
		same.others[name] = append(same.others[name], others...)
	}
	if len(same.others) == 0 {
		return
	}
	for i, list := range scan.records {
		scan.records[i] = same.joinRecords(list)
	}
	for i := range scan.claims {
		c := &scan.claims[i]
		if to, ok := same.main[namedFile{recordID{c.Agent, c.Session}, c.Path}]; ok {
			c.Path = to.path
		}
	}
}

// otherPathsKey is the fact with the other names of a session's file.
const otherPathsKey = "otherPaths"

// joinRecords leaves one record of each file, under the name that counts.
func (same *samePlaces) joinRecords(list []Record) []Record {
	read := map[namedFile]bool{}
	for i := range list {
		read[namedFile{list[i].recordID(), list[i].Path}] = true
	}
	out := list[:0:0]
	for _, r := range list {
		if to, ok := same.main[namedFile{r.recordID(), r.Path}]; ok {
			key := namedFile{r.recordID(), to.path}
			if read[key] {
				continue
			}
			read[key] = true
			r.Path, r.Home = to.path, to.home
		}
		if names := same.others[namedFile{r.recordID(), r.Path}]; len(names) > 0 {
			r.SetMeta(otherPathsKey, slices.Compact(slices.Sorted(slices.Values(names))))
		}
		out = append(out, r)
	}
	return out
}

// joinEntries leaves one entry of each file, under the name that counts, and remembers the others.
func (scan *Scan) joinEntries(entries []Entry) []Entry {
	places := map[recordID][]place{}
	for _, e := range entries {
		id := recordID{e.Agent, e.ID}
		places[id] = append(places[id], place{e.Path, e.Home})
	}
	same := scan.findSamePlaces(places)
	scan.mu.Lock()
	defer scan.mu.Unlock()
	for name, others := range same.others {
		scan.otherPaths[name] = append(scan.otherPaths[name], others...)
	}
	return slices.DeleteFunc(entries, func(e Entry) bool {
		_, other := same.main[namedFile{recordID{e.Agent, e.ID}, e.Path}]
		return other
	})
}
