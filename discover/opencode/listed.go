package opencode

import (
	"errors"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/sqlite"
)

// listed is a session as a listing has it. Of one whose row cannot be read, an index has the id.
type listed struct {
	rowid      int64
	id, parent string
	updated    int64
	unreadable bool
}

func newListed(rowid int64, r *sqlite.Row) listed {
	return listed{rowid: rowid, id: r.Text("id", shortLimit), parent: r.Text("parent_id", shortLimit), updated: r.Int("time_updated")}
}

// list are the sessions that a query may mean, as far as keys answer that. The rest is for [asked]: a JSON file is
// known to be taken over only if its session is found in the database, however old.
func (st *store) list(q discover.EntryFilter) []listed {
	switch {
	case q.Parents != nil:
		return st.under(q.Parents)
	case q.Refs != nil:
		ids := make([]string, 0, len(q.Refs))
		for _, r := range q.Refs {
			ids = append(ids, r.ID)
		}
		return st.find(ids)
	case q.ID != "":
		return st.beginningWith(q.ID)
	}
	return st.all()
}

// under are the sub-agents' sessions of these.
func (st *store) under(parents []discover.Ref) (found []listed) {
	for _, p := range parents {
		if p.Path != st.path {
			continue
		}
		for r := range st.children(p.ID) {
			found = append(found, newListed(0, r))
		}
	}
	return found
}

// beginningWith are the sessions whose id begins so.
func (st *store) beginningWith(prefix string) (found []listed) {
	before := st.damages()
	for r := range st.db.Query(`SELECT rowid, id FROM session WHERE id >= ? AND id < ?`, prefix, prefix+"~") {
		found = append(found, st.read(newListed(r.Int("rowid"), r)))
	}
	if st.damages() > before {
		found = slices.DeleteFunc(st.all(), func(l listed) bool { return !strings.HasPrefix(l.id, prefix) })
	}
	return found
}

// read completes what an index has of a session.
func (st *store) read(l listed) listed {
	if r := st.session.Row(l.rowid); r != nil {
		return newListed(l.rowid, r)
	}
	l.unreadable = true
	return l
}

// find returns the sessions with these ids, each once, in the order of the table: what was made together stands together.
// Where the index is damaged, the table itself is searched.
func (st *store) find(ids []string) []listed {
	before := st.damages()
	found := make([]listed, 0, len(ids))
	for _, id := range slices.Compact(slices.Sorted(slices.Values(ids))) {
		for r := range st.db.Query(`SELECT rowid, id FROM session WHERE id = ? ORDER BY rowid LIMIT 1`, id) {
			found = append(found, newListed(r.Int("rowid"), r))
		}
	}
	if st.damages() > before {
		found = slices.DeleteFunc(st.all(), func(l listed) bool { return !slices.Contains(ids, l.id) })
	}
	slices.SortFunc(found, func(a, b listed) int { return int(min(max(a.rowid-b.rowid, -1), 1)) })
	return found
}

var errTwice = errors.New("a table has a row twice")

// all are all sessions. Where that meets damage, it goes over the table from the other end too, and over the index of the
// primary key from both: a damaged page costs each pass what is behind it, and none but itself all of them.
func (st *store) all() (found []listed) {
	columns := slices.DeleteFunc([]string{"id", "parent_id", "time_updated"}, func(name string) bool { return !st.session.Has(name) })
	before, seen := st.damages(), map[int64]bool{}
	for r := range st.db.Query(`SELECT rowid, ` + strings.Join(columns, `, `) + ` FROM session ORDER BY rowid`) {
		l := newListed(r.Int("rowid"), r)
		if seen[l.rowid] {
			st.db.Fail(errTwice)
			break
		}
		seen[l.rowid], found = true, append(found, l)
	}
	if st.damages() == before {
		return found
	}
	for _, pass := range []string{`ORDER BY rowid DESC`, `ORDER BY id`, `ORDER BY id DESC`} {
		for r := range st.db.Query(`SELECT rowid, id FROM session ` + pass) {
			if l := newListed(r.Int("rowid"), r); !seen[l.rowid] {
				seen[l.rowid], found = true, append(found, st.read(l))
			}
		}
	}
	return found
}
