package discover

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
)

// namedFile is one of the names of a session's file or database: one transcript seen through two homes, links or names is one session.
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

// addName adds a name of a session's file. Of several names of one file, by device and inode, the first counts. It opens nothing, and an ID
// with one name costs nothing.
func (scan *Scan) addName(id recordID, path string, stat func(string) os.FileInfo) {
	if path == "" || slices.Contains(scan.names[id], path) {
		return
	}
	for _, first := range scan.names[id] {
		if a, b := stat(first), stat(path); a != nil && b != nil && os.SameFile(a, b) {
			scan.firstNames[namedFile{id, path}] = first
			scan.otherNames[namedFile{id, first}] = append(scan.otherNames[namedFile{id, first}], path)
			return
		}
	}
	scan.names[id] = append(scan.names[id], path)
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
	return slices.DeleteFunc(entries, func(e Entry) bool { return scan.firstNames[namedFile{recordID{e.Agent, e.ID}, e.Path}] != "" })
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
	stat := statOnce()
	for _, h := range scan.homes[c.Agent] {
		if h.Dir == c.Home {
			break
		}
		path := filepath.Join(h.Dir, rel)
		if a, b := stat(path), stat(c.Path); !h.FilesOnly && a != nil && b != nil && os.SameFile(a, b) {
			return path
		}
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

// otherPathsKey is the fact with the other names of a session's file.
const otherPathsKey = "otherPaths"

// joinNames lets the claims name the records by the names that count, and the records have the other names of their files.
func (scan *Scan) joinNames() {
	stat := statOnce()
	for i := range scan.claims {
		c := &scan.claims[i]
		id := recordID{c.Agent, c.Session}
		if c.Session == "" {
			continue
		}
		scan.addName(id, c.Path, stat)
		c.Path = cmp.Or(scan.firstNames[namedFile{id, c.Path}], c.Path)
	}
	if len(scan.otherNames) == 0 {
		return
	}
	for _, list := range scan.records {
		for i := range list {
			if names := scan.otherNames[namedFile{list[i].recordID(), list[i].Path}]; len(names) > 0 {
				list[i].SetMeta(otherPathsKey, slices.Compact(slices.Sorted(slices.Values(names))))
			}
		}
	}
}
