package opencode

import (
	"errors"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/sqlite"
	"agentctl/discover/opencode/transcript"
)

// sessionEntry is a session as a listing has it. Of one whose row cannot be read, an index has the id.
type sessionEntry struct {
	rowid      int64
	id, parent string
	updated    int64
	unreadable bool
}

func newSessionEntry(rowid int64, r *sqlite.Row) sessionEntry {
	return sessionEntry{rowid: rowid, id: r.Text("id", transcript.NameLimit), parent: r.Text("parent_id", transcript.NameLimit), updated: r.Int("time_updated")}
}

// listSessions are the sessions that a query may mean, as far as keys answer that. The rest is for [matches]: a JSON file is
// known to be taken over only if its session is found in the database, however old.
func (st *database) listSessions(q discover.EntryFilter) []sessionEntry {
	switch {
	case q.Parents != nil:
		return st.subAgentsOf(q.Parents)
	case q.Refs != nil:
		ids := make([]string, 0, len(q.Refs))
		for _, r := range q.Refs {
			ids = append(ids, r.ID)
		}
		return st.withIDs(ids)
	case q.ID != "":
		return st.withIDPrefix(q.ID)
	}
	return st.allSessions()
}

// subAgentsOf are the sub-agents' sessions of these.
func (st *database) subAgentsOf(parents []discover.Ref) (found []sessionEntry) {
	for _, p := range parents {
		if p.Path != st.path {
			continue
		}
		for r := range st.children(p.ID) {
			found = append(found, newSessionEntry(0, r))
		}
	}
	return found
}

// withIDPrefix are the sessions whose id begins so.
func (st *database) withIDPrefix(prefix string) (found []sessionEntry) {
	before := st.Failures()
	for r := range st.db.Query(`SELECT rowid, id FROM session WHERE id >= ? AND id < ?`, prefix, prefix+"~") {
		found = append(found, st.readEntry(newSessionEntry(r.Int("rowid"), r)))
	}
	if st.Failures() > before {
		found = slices.DeleteFunc(st.allSessions(), func(l sessionEntry) bool { return !strings.HasPrefix(l.id, prefix) })
	}
	return found
}

// readEntry completes what an index has of a session.
func (st *database) readEntry(l sessionEntry) sessionEntry {
	if r := st.sessionTable.Row(l.rowid); r != nil {
		return newSessionEntry(l.rowid, r)
	}
	l.unreadable = true
	return l
}

// withIDs returns the sessions with these ids, each once, in the order of the table: what was made together stands together.
// Where the index is damaged, the table itself is searched.
func (st *database) withIDs(ids []string) []sessionEntry {
	before := st.Failures()
	found := make([]sessionEntry, 0, len(ids))
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		for r := range st.db.Query(`SELECT rowid, id FROM session WHERE id = ? ORDER BY rowid LIMIT 1`, id) {
			found = append(found, newSessionEntry(r.Int("rowid"), r))
		}
	}
	if st.Failures() > before {
		found = slices.DeleteFunc(st.allSessions(), func(l sessionEntry) bool { return !slices.Contains(ids, l.id) })
	}
	slices.SortFunc(found, func(a, b sessionEntry) int { return int(min(max(a.rowid-b.rowid, -1), 1)) })
	return found
}

var errDuplicateRow = errors.New("a table has a row twice")

// allSessions are all sessions. Where that meets damage, it goes over the table from the other end too, and over the index of the
// primary key from both: a damaged page costs each pass what is behind it, and none but itself all of them.
func (st *database) allSessions() (found []sessionEntry) {
	columns := slices.DeleteFunc([]string{"id", "parent_id", "time_updated"}, func(name string) bool { return !st.sessionTable.Has(name) })
	before, seen := st.Failures(), map[int64]bool{}
	for r := range st.db.Query(`SELECT rowid, ` + strings.Join(columns, `, `) + ` FROM session ORDER BY rowid`) {
		l := newSessionEntry(r.Int("rowid"), r)
		if seen[l.rowid] {
			st.db.Fail(errDuplicateRow)
			break
		}
		seen[l.rowid], found = true, append(found, l)
	}
	if st.Failures() == before {
		return found
	}
	for _, pass := range []string{`ORDER BY rowid DESC`, `ORDER BY id`, `ORDER BY id DESC`} {
		for r := range st.db.Query(`SELECT rowid, id FROM session ` + pass) {
			if l := newSessionEntry(r.Int("rowid"), r); !seen[l.rowid] {
				seen[l.rowid], found = true, append(found, st.readEntry(l))
			}
		}
	}
	return found
}
