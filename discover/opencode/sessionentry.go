package opencode

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/sqlite"
	"agentctl/discover/opencode/transcript"
)

// sessionEntry is a session in a list. If its row cannot be read, only its ID is known, from an index.
type sessionEntry struct {
	rowid      int64
	id, parent string
	updated    int64
}

func newSessionEntry(rowid int64, r *sqlite.Row) sessionEntry {
	return sessionEntry{rowid: rowid, id: r.Text("id", transcript.NameLimit), parent: r.Text("parent_id", transcript.NameLimit), updated: r.Int("time_updated")}
}

// listSessions returns the sessions that may match the filter. It applies only what keys can answer, and [matches] the rest: a session that
// is too old for the filter must be found here too, because its JSON file must not be listed instead.
func (d *database) listSessions(q discover.EntryFilter) []sessionEntry {
	switch {
	case q.Parents != nil:
		return d.subAgentsOf(q.Parents)
	case q.Refs != nil:
		ids := make([]string, 0, len(q.Refs))
		for _, r := range q.Refs {
			ids = append(ids, r.ID)
		}
		return d.withIDs(ids)
	case q.ID != "":
		return d.withIDPrefix(q.ID)
	}
	return d.allSessions()
}

// subAgentsOf returns the sessions of the sub-agents that work for these sessions.
func (d *database) subAgentsOf(parents []discover.Ref) (found []sessionEntry) {
	for _, p := range parents {
		if p.Path != d.path {
			continue
		}
		for r := range d.children(p.ID) {
			found = append(found, newSessionEntry(0, r))
		}
	}
	return found
}

// withIDPrefix returns the sessions whose IDs have a prefix.
func (d *database) withIDPrefix(prefix string) (found []sessionEntry) {
	for r := range d.db.Query(`SELECT rowid, id FROM session WHERE id >= ? AND id < ?`, prefix, prefix+"~") {
		e := newSessionEntry(r.Int("rowid"), r)
		if row := d.sessionTable.Row(e.rowid); row != nil {
			e = newSessionEntry(e.rowid, row)
		}
		found = append(found, e)
	}
	return found
}

// withIDs returns the sessions with these IDs, each once, in the order of the table: neighbours share pages.
func (d *database) withIDs(ids []string) []sessionEntry {
	found := make([]sessionEntry, 0, len(ids))
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		for r := range d.db.Query(`SELECT rowid, id FROM session WHERE id = ? ORDER BY rowid LIMIT 1`, id) {
			found = append(found, newSessionEntry(r.Int("rowid"), r))
		}
	}
	slices.SortFunc(found, func(a, b sessionEntry) int { return cmp.Compare(a.rowid, b.rowid) })
	return found
}

var errDuplicateRow = errors.New("a table has a row twice")

// allSessions returns all sessions. A damaged page ends the list.
func (d *database) allSessions() (found []sessionEntry) {
	columns := slices.DeleteFunc([]string{"id", "parent_id", "time_updated"}, func(name string) bool { return !d.sessionTable.Has(name) })
	seen := map[int64]bool{}
	for r := range d.db.Query(`SELECT rowid, ` + strings.Join(columns, `, `) + ` FROM session ORDER BY rowid`) {
		e := newSessionEntry(r.Int("rowid"), r)
		if seen[e.rowid] {
			d.db.Fail(errDuplicateRow)
			break
		}
		seen[e.rowid], found = true, append(found, e)
	}
	return found
}
