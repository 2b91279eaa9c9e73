package opencode

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"

	"agentctl/discover/native/sqlite"
)

// database is a database of sessions at one moment. Its methods return no errors. They leave out what is damaged; the connection counts it,
// and [readDatabase] returns a [damageError].
type database struct {
	home, path                            string
	db                                    *sqlite.DB
	sessionTable, messageTable, partTable *sqlite.Table
	hasV2                                 bool // it has sessions of OpenCode 2 too
}

// readDatabase calls read with the database at path. If a writer disturbs the reading, it calls read again, which must then drop the earlier
// results. It does not call read if there are no tables. The results are valid if the error is nil or a [damageError].
func readDatabase(ctx context.Context, home, path string, read func(*database)) error {
	return sqlite.Read(ctx, path, func(db *sqlite.DB) error {
		d, err := newDatabase(home, path, db)
		if d == nil {
			return err
		}
		read(d)
		if n, cause := db.Damage(); n > 0 {
			return damageError{cause}
		}
		return nil
	})
}

// damageError reports that a part of a database could not be read. The rest was.
type damageError struct{ error }

// Unwrap returns the first cause.
func (e damageError) Unwrap() error { return e.error }

// isDamage reports whether the results of a [readDatabase] that returned this error are valid.
func isDamage(err error) bool {
	_, ok := errors.AsType[damageError](err)
	return ok
}

// newDatabase finds the tables. The database is nil if there are none.
func newDatabase(home, path string, db *sqlite.DB) (*database, error) {
	tables := slices.Collect(db.Tables())
	if _, damage := db.Damage(); len(tables) == 0 {
		return nil, damage
	}
	d := &database{home: home, path: path, db: db, hasV2: hasV2Sessions(db, tables)}
	// A database without these tables is another program's, or incomplete. A view is no table.
	for _, name := range []string{"session", "message", "part"} {
		switch {
		case slices.Contains(tables, name):
		case d.hasV2:
			return nil, errV2Sessions
		default:
			return nil, fmt.Errorf("no database of sessions: no such table: %s", name)
		}
	}
	// Older versions lack some columns: agent and model came with 1.14, cost and tokens with 1.15 (SEEN). No version removed any.
	d.sessionTable = db.Table(
		"session", "id", "parent_id", "project_id", "slug", "directory", "title", "version", "permission", "agent", "model",
		"time_created", "time_updated", "time_archived", "cost",
		"tokens_input", "tokens_output", "tokens_reasoning", "tokens_cache_read", "tokens_cache_write",
	)
	d.messageTable = db.Table("message", "id", "session_id", "time_created", "time_updated", "data")
	d.partTable = db.Table("part", "id", "message_id", "time_updated", "data")
	return d, nil
}

// rows yields the readable rows of a table whose rowids a statement finds.
func (d *database) rows(table *sqlite.Table, statement string, args ...any) iter.Seq[*sqlite.Row] {
	return func(yield func(*sqlite.Row) bool) {
		for found := range d.db.Query(statement, args...) {
			if r := table.Row(found.Int("rowid")); r != nil && !yield(r) {
				return
			}
		}
	}
}

// ids returns the session IDs that a statement finds.
func (d *database) ids(statement string, args ...any) (out []string) {
	for r := range d.db.Query(statement, args...) {
		out = append(out, r.Text("id", nameLimit))
	}
	return out
}

// idsSince returns the IDs of the sessions that began or got a prompt at or after t. It searches only primary keys: IDs contain the time.
func (d *database) idsSince(t time.Time) (out []string) {
	for _, r := range sessionIDsSince(t) {
		out = append(out, d.ids(`SELECT id FROM session WHERE id >= ? AND id < ?`, r.from, r.to)...)
	}
	for _, r := range messageIDsSince(t) {
		out = append(out, d.ids(`SELECT DISTINCT session_id AS id FROM message WHERE id >= ? AND id < ?`, r.from, r.to)...)
	}
	return out
}

// Failures returns how many rows and values could not be read so far.
func (d *database) Failures() int {
	n, _ := d.db.Damage()
	return n
}
