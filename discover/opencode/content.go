package opencode

import (
	"context"
	"slices"

	"agentctl/discover"
	"agentctl/discover/opencode/transcript"
)

// FilterContent implements [discover.ContentFilter]. It reads all parts of the sessions of a database. The sessions of the older
// JSON files are returned unread.
func (Adapter) FilterContent(ctx context.Context, entries []discover.Entry, match func([]byte) bool) func([]discover.Entry) []discover.Entry {
	f := contentFilter{ctx: ctx, match: match, databases: map[batchKey]*filteredDatabase{}}
	for _, b := range batches(entries) {
		if f.databases[b.batchKey] == nil {
			f.databases[b.batchKey] = new(filteredDatabase)
		}
		f.databases[b.batchKey].wanted += len(b.ids)
	}
	return f.filter
}

// contentFilter is one call of FilterContent.
type contentFilter struct {
	ctx       context.Context
	match     func([]byte) bool
	databases map[batchKey]*filteredDatabase
	called    bool
}

// filteredDatabase is a database whose sessions are filtered.
type filteredDatabase struct {
	wanted int             // how many of its sessions are filtered
	tried  bool            // all of its parts were read at once, or could not be
	found  map[string]bool // the sessions of which a part may match; nil if they are not known
}

// filter returns the entries of which a part may match or cannot be read. In its first call the sessions are read one by one, so that
// what matches in the newest ones is found early.
func (f *contentFilter) filter(some []discover.Entry) (kept []discover.Entry) {
	for _, b := range batches(some) {
		ids := b.ids
		if !b.isLegacy() {
			ids = f.mayMatch(b)
		}
		for _, e := range some {
			if e.Path == b.path && e.Home == b.home && slices.Contains(ids, e.ID) {
				kept = append(kept, e)
			}
		}
	}
	f.called = true
	return kept
}

// mayMatch returns the sessions of a batch of which a part may match or cannot be read.
func (f *contentFilter) mayMatch(b batch) (found []string) {
	d := f.databases[b.batchKey]
	if f.called && !d.tried {
		d.found, d.tried = f.allMatching(b.batchKey, d.wanted), true
	}
	if d.found != nil {
		return slices.DeleteFunc(slices.Clone(b.ids), func(id string) bool { return !d.found[id] })
	}
	if readDatabase(f.ctx, b.home, b.path, func(d *database) { found = d.mayMatch(b.ids, f.match) }) != nil {
		return b.ids
	}
	return found
}

// worthAll is about how many sessions a read of all takes in the time of one that is read alone. It is an estimate.
const worthAll = 8

// allMatching returns the sessions of a database of which a part may match. They are not known, nil, if something is damaged, if many
// match, if its writer disturbs the reading, or if the wanted sessions are few of it. Reading them one by one is better then.
func (f *contentFilter) allMatching(b batchKey, wanted int) (found map[string]bool) {
	again := false // readDatabase calls the function again after the writer has disturbed it
	err := readDatabase(f.ctx, b.home, b.path, func(d *database) {
		found = nil
		if !again && d.countSessions() <= worthAll*wanted {
			found = d.allMatching(f.match)
		}
		again = true
	})
	if err != nil {
		return nil
	}
	return found
}

func (d *database) countSessions() (n int) {
	for r := range d.db.Query(`SELECT count(*) AS n FROM session`) {
		n = int(r.Int("n"))
	}
	return n
}

func (d *database) allMatching(match func([]byte) bool) map[string]bool {
	rows, err := d.db.FilterRows("part", match)
	if err != nil {
		return nil
	}
	found := map[string]bool{}
	for _, row := range rows {
		known := false
		for r := range d.db.Query(`SELECT session_id FROM part WHERE rowid = ?`, row) {
			found[r.Text("session_id", transcript.NameLimit)], known = true, true
		}
		if !known {
			return nil
		}
	}
	return found
}

// mayMatch returns the sessions of which a part may match or cannot be read.
func (d *database) mayMatch(sessions []string, match func([]byte) bool) (found []string) {
	for _, id := range sessions {
		if d.partMayMatch(id, match) {
			found = append(found, id)
		}
	}
	return found
}

func (d *database) partMayMatch(session string, match func([]byte) bool) bool {
	before := d.Failures()
	// A longer value cannot be read by a statement.
	for r := range d.db.Query(`SELECT CASE WHEN octet_length(data) < 1000000 THEN data END AS data FROM part WHERE session_id = ?`, session) {
		if data := r.Bytes("data", maxRow); data == nil || match(data) {
			return true
		}
	}
	return d.Failures() > before
}
