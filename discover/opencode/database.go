package opencode

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"time"

	"agentctl/discover/native/sqlite"
	"agentctl/discover/opencode/transcript"
)

// database is a database of sessions at one moment. Its connection counts what cannot be read in it, so nothing here returns
// errors: it leaves out what is damaged, and [readDatabase] returns a [damageError] about it.
type database struct {
	home, path                            string
	db                                    *sqlite.DB
	sessionTable, messageTable, partTable *sqlite.Table
	hasV2                                 bool // there are sessions of OpenCode 2 as well
	damage                                damageError
}

// columns are those of a table that are read. They come with versions: agent and model with 1.14, cost and tokens with
// 1.15 (SEEN); none was ever removed.
func columns(table string) []string {
	switch table {
	case "session":
		return []string{
			"id", "parent_id", "project_id", "slug", "directory", "title", "version", "permission", "agent", "model",
			"time_created", "time_updated", "time_archived", "cost",
			"tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write",
		}
	case "message":
		return []string{"id", "session_id", "time_created", "time_updated", "data"}
	}
	return []string{"id", "message_id", "time_updated", "data"}
}

// readDatabase runs read on the database at path, more than once where a writer makes that necessary: it must begin by
// forgetting what an earlier run gave it. It is not run where there are no tables so far. What it gave is valid if the
// error is nil or [*damageError].
func readDatabase(ctx context.Context, home, path string, read func(*database)) error {
	return sqlite.Read(ctx, path, func(db *sqlite.DB) error {
		st, err := newDatabase(home, path, db)
		if st == nil {
			return err
		}
		read(st)
		if n, cause := db.Damage(); n > 0 {
			st.damage.cause = cause
			return &st.damage
		}
		return nil
	})
}

// newDatabase finds the tables; nil where there are none so far.
func newDatabase(home, path string, db *sqlite.DB) (*database, error) {
	tables := slices.Collect(db.Tables())
	if _, damage := db.Damage(); len(tables) == 0 {
		return nil, damage
	}
	st := &database{home: home, path: path, db: db, hasV2: hasV2Sessions(db, tables)}
	// One without the tables of sessions is another program's, or half made; a view is no table.
	for name, to := range map[string]**sqlite.Table{"session": &st.sessionTable, "message": &st.messageTable, "part": &st.partTable} {
		switch {
		case slices.Contains(tables, name):
			*to = db.Table(name, columns(name)...)
		case st.hasV2:
			return nil, errV2Sessions
		default:
			return nil, fmt.Errorf("no database of sessions: no such table: %s", name)
		}
	}
	return st, nil
}

// rows yields the rows of a table that a statement finds, as far as they can be read.
func (st *database) rows(table *sqlite.Table, statement string, args ...any) iter.Seq[*sqlite.Row] {
	return func(yield func(*sqlite.Row) bool) {
		for found := range st.db.Query(statement, args...) {
			if r := table.Row(found.Int("rowid")); r != nil && !yield(r) {
				return
			}
		}
	}
}

// ids are the session ids that a statement finds.
func (st *database) ids(statement string, args ...any) (out []string) {
	for r := range st.db.Query(statement, args...) {
		out = append(out, r.Text("id", transcript.NameLimit))
	}
	return out
}

// idsSince are the ids of the sessions that were begun or prompted at or after t. Primary keys tell, since ids hold
// their time.
func (st *database) idsSince(t time.Time) (out []string) {
	for _, s := range sessionIDsSince(t) {
		out = append(out, st.ids(`SELECT id FROM session WHERE id >= ? AND id < ?`, s.from, s.to)...)
	}
	for _, s := range messageIDsSince(t) {
		out = append(out, st.ids(`SELECT DISTINCT session_id AS id FROM message WHERE id >= ? AND id < ?`, s.from, s.to)...)
	}
	return out
}

// Failures returns how many rows and values could not be read so far.
func (st *database) Failures() int {
	n, _ := st.db.Damage()
	return n
}
