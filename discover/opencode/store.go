package opencode

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/native"
	"agentctl/discover/native/sqlite"
)

// store is a database of sessions at one moment. What cannot be read in it makes [readStore] fail, whatever was read
// before; so nothing here returns errors.
type store struct {
	home, path             string
	session, message, part *sqlite.Table
	texts                  *native.Texts // nil for none
	model                  model         // of the session that was read last
	second                 bool          // there are sessions of OpenCode 2 as well
}

// readStore runs read on the database at path, more than once where a writer makes that necessary: it must begin by
// forgetting what an earlier run gave it. It is not run where there are no tables so far.
func readStore(ctx context.Context, home, path string, read func(*store)) error {
	return native.ReadDB(ctx, path, func(db *sqlite.DB) error {
		if len(db.Tables()) == 0 {
			return nil
		}
		st := &store{home: home, path: path, second: holdsSecond(db)}
		// One without the tables of sessions is another program's, or half made; a view is no table.
		for _, t := range []struct {
			name string
			to   **sqlite.Table
		}{{"session", &st.session}, {"message", &st.message}, {"part", &st.part}} {
			var err error
			if *t.to, err = db.Table(t.name); err != nil && st.second {
				return errSecond
			} else if err != nil {
				return fmt.Errorf("no database of sessions: %w", err)
			}
		}
		read(st)
		return nil
	})
}

// idsSince yields the ids of the sessions that were begun or prompted at or after t. Primary keys tell, since ids hold
// their time.
func (st *store) idsSince(t time.Time) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, s := range sessionsSince(t) {
			for r := range st.session.Range("id", s.from, s.to).Up() {
				if !yield(r.Text("id", shortLimit)) {
					return
				}
			}
		}
		for _, s := range messagesSince(t) {
			for r := range st.message.Range("id", s.from, s.to).Up() {
				if !yield(r.Text("session_id", shortLimit)) {
					return
				}
			}
		}
	}
}

// rows yields the sessions that a query may mean, as far as the primary key answers that. The rest is for [asked]: a
// JSON file is known to be taken over only if its session is found in the database, however old.
func (st *store) rows(q discover.Query) iter.Seq[*sqlite.Row] {
	switch {
	case q.Parents != nil:
		return st.rowsUnder(q.Parents)
	case q.Refs != nil:
		ids := make([]string, 0, len(q.Refs))
		for _, r := range q.Refs {
			ids = append(ids, r.ID)
		}
		return st.rowsOf(ids)
	case q.ID != "":
		return st.session.Range("id", q.ID, q.ID+"~").Up()
	}
	return st.session.Rows()
}

// rowsUnder yields the sub-agents' sessions of these.
func (st *store) rowsUnder(parents []discover.Ref) iter.Seq[*sqlite.Row] {
	return func(yield func(*sqlite.Row) bool) {
		for _, p := range parents {
			for r := range st.children(p.ID) {
				if p.Path == st.path && !yield(r) {
					return
				}
			}
		}
	}
}

// children yields the sub-agents' sessions of one.
func (st *store) children(session string) iter.Seq[*sqlite.Row] {
	if !st.session.Has("parent_id") {
		return func(func(*sqlite.Row) bool) {}
	}
	return st.session.Equal("parent_id", session).Up()
}

// helped are those of the sessions that sub-agents have sessions for. One search is for all.
func (st *store) helped(sessions []string) map[string]bool {
	if len(sessions) == 0 || !st.session.Has("parent_id") {
		return nil
	}
	var out map[string]bool
	for id := range st.session.Range("parent_id", slices.Min(sessions), slices.Max(sessions)+"\x00").Texts(shortLimit) {
		if out == nil {
			out = map[string]bool{}
		}
		out[id] = true
	}
	return out
}

// rowsOf yields the sessions with these ids, each once. Those that were made one after the other come so: what else there is
// of them stands together too.
func (st *store) rowsOf(ids []string) iter.Seq[*sqlite.Row] { return st.session.In("id", ids) }
