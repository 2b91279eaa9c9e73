package discover

import (
	"cmp"
	"context"
	"os"
	"path/filepath"
	"slices"
)

// namedFile is a session's file or database with all its names: one transcript seen through two homes, links or names is one session.
type namedFile struct {
	path   string   // the name that counts
	others []string // in the order in which they were found
}

// MayBeSame reports whether two rows may be one session: they have one ID, and one file under whatever name. Where the file of one is not
// known they may.
func (s Session) MayBeSame(o Session) bool {
	if s.Agent != o.Agent || s.ID == "" || s.ID != o.ID {
		return false
	}
	return s.Path == "" || o.Path == "" || s.Path == o.Path || SameFile(s.Path, o.Path)
}

// SameFile reports whether two paths lead to one file that exists. It opens nothing.
func SameFile(a, b string) bool {
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// addName adds a name of a session's file, and returns the one that counts: of several names of one file, by device and inode, the first. It
// opens nothing, and an ID with one name costs nothing.
func (scan *Scan) addName(id recordID, path string, stat func(string) os.FileInfo) string {
	if path == "" {
		return ""
	}
	files := scan.files[id]
	for i, f := range files {
		if f.path == path || slices.Contains(f.others, path) {
			return f.path
		}
		if a, b := stat(f.path), stat(path); a != nil && b != nil && os.SameFile(a, b) {
			files[i].others = append(f.others, path)
			return f.path
		}
	}
	scan.files[id] = append(files, namedFile{path: path})
	return path
}

// statOnce returns a function that states each path once. What cannot be looked at is a file of its own.
func statOnce() func(string) os.FileInfo {
	known := map[string]os.FileInfo{}
	return func(path string) os.FileInfo {
		info, ok := known[path]
		if !ok {
			info, _ = os.Stat(path)
			known[path] = info
		}
		return info
	}
}

// joinEntries leaves one entry of each file, under the name that counts: that in the home that is named first, ours before those that only
// processes name.
func (scan *Scan) joinEntries(entries []Entry) []Entry {
	byID := map[recordID][]Entry{}
	for _, e := range entries {
		id := recordID{e.Agent, e.ID}
		byID[id] = append(byID[id], e)
	}
	stat := statOnce()
	for id, list := range byID {
		if len(list) > 1 {
			slices.SortStableFunc(list, func(a, b Entry) int { return scan.homeRank(a) - scan.homeRank(b) })
		}
		for _, e := range list {
			scan.addName(id, e.Path, stat)
		}
	}
	return slices.DeleteFunc(entries, func(e Entry) bool { return scan.addName(recordID{e.Agent, e.ID}, e.Path, stat) != e.Path })
}

// homeRank orders homes as they are named, which is ours before those that only processes name.
func (scan *Scan) homeRank(e Entry) int {
	homes := scan.homes[e.Agent]
	h, ok := homeOf(homes, e.Home, e.Path)
	if !ok {
		return len(homes)
	}
	return slices.IndexFunc(homes, h.same)
}

// canonicalPath returns the name of a session's file in the first of the homes that share the store of the claim's home; the claim's own
// where none does.
func (scan *Scan) canonicalPath(c Claim) string {
	rel, err := filepath.Rel(c.Home, c.Path)
	if c.Session == "" || c.Path == "" || err != nil || !filepath.IsLocal(rel) {
		return c.Path
	}
	for _, h := range scan.homes[c.Agent] {
		if h.Dir == c.Home {
			break
		}
		if path := filepath.Join(h.Dir, rel); !h.FilesOnly && SameFile(path, c.Path) {
			return path
		}
	}
	return c.Path
}

// homeOfPath returns the home that the file of a claim is in, by its path: the claim's own, or one that shares its store.
func (scan *Scan) homeOfPath(c Claim) string {
	for _, h := range scan.homes[c.Agent] {
		if !Within(c.Path, c.Home) && !h.FilesOnly && Within(c.Path, h.Dir) {
			return h.Dir
		}
	}
	return c.Home
}

// otherPathsKey is the fact with the other names of a session's file.
const otherPathsKey = "otherPaths"

// joinNames lets the claims name the records by the names that count, and the records have the other names of their files.
func (scan *Scan) joinNames() {
	stat := statOnce()
	for i := range scan.claims {
		if c := &scan.claims[i]; c.Session != "" {
			c.Path = scan.addName(recordID{c.Agent, c.Session}, c.Path, stat)
		}
	}
	for _, list := range scan.records {
		for i := range list {
			for _, f := range scan.files[list[i].recordID()] {
				if f.path == list[i].Path && len(f.others) > 0 {
					list[i].SetMeta(otherPathsKey, slices.Sorted(slices.Values(f.others)))
				}
			}
		}
	}
}

// Two files with the same session, such as those of a copied store or a backup beside a database, are copies of one session: they have
// one ID and one time of creation. The one with the newest activity is the session, or the one that a process runs. Of equal ones it is that
// with the shorter path: opencode.db, and not opencode-backup.db. A user can give one ID to two sessions; these have begun at different times.

// copiesKey is the fact with the paths of a session's copies.
const copiesKey = "copies"

// mainCopies returns for each of n stored sessions the index of the one that is the session: its own, unless it is a copy. live: a process
// runs it.
func mainCopies(n int, stored func(i int) (r *Record, live bool)) []int {
	type origin struct {
		recordID
		created int64
	}
	originOf := func(r *Record) origin { return origin{r.recordID(), r.Created.UnixNano()} }
	best := map[origin]int{}
	for i := range n {
		r, live := stored(i)
		if at, known := best[originOf(r)]; known {
			o, otherLive := stored(at)
			better := cmp.Or(compareBool(!live, !otherLive), o.lastActivity().Compare(r.lastActivity()), len(r.Path)-len(o.Path), cmp.Compare(r.Path, o.Path))
			if better >= 0 {
				continue
			}
		}
		best[originOf(r)] = i
	}
	mains := make([]int, n)
	for i := range mains {
		r, live := stored(i)
		if mains[i] = i; !live && !r.Created.IsZero() {
			mains[i] = best[originOf(r)]
		}
	}
	return mains
}

// mainSessions is [mainCopies] of sessions.
func mainSessions(sessions []Session) []int {
	return mainCopies(len(sessions), func(i int) (*Record, bool) { return sessions[i].Record, sessions[i].Status.Live() })
}

// mainRecords is [mainCopies] by what is stored alone.
func mainRecords(records []Record) []int {
	return mainCopies(len(records), func(i int) (*Record, bool) { return &records[i], false })
}

// markCopies sets [Session.Copy], and names the copies in the session that they are copies of.
func markCopies(sessions []Session) {
	copies := map[int][]string{}
	for i, main := range mainSessions(sessions) {
		if main != i {
			sessions[i].Copy = true
			copies[main] = append(copies[main], sessions[i].Path)
		}
	}
	for i, paths := range copies {
		own := *sessions[i].Record // sessions share it
		slices.Sort(paths)
		own.SetMeta(copiesKey, paths)
		sessions[i].Record = &own
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
	records, isCopy := slices.Concat(reading.records...), map[Key]bool{}
	for i, main := range mainRecords(records) {
		isCopy[records[i].Key()] = main != i
	}
	for i := range entries {
		entries[i] = slices.DeleteFunc(entries[i], func(e Entry) bool { return isCopy[e.key()] })
	}
	return entries
}
