package opencode

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native"
)

// Entries lists the sessions of all databases, and of the JSON files that no database has taken over.
func (Adapter) Entries(ctx context.Context, homes []discover.Home, q discover.Query) ([]discover.Entry, error) {
	var out []discover.Entry
	var errs []error
	for _, home := range homes {
		found, err := entriesOf(ctx, home, q)
		out, errs = append(out, found...), append(errs, err)
	}
	return out, errors.Join(errs...)
}

func entriesOf(ctx context.Context, home discover.Home, q discover.Query) ([]discover.Entry, error) {
	if !beginsSessionID(q.ID) {
		return nil, nil // another agent's
	}
	databases, err := databasesOf(home)
	errs := []error{err}
	var all []discover.Entry
	for _, path := range databases {
		found, err := entriesIn(ctx, home, path, q)
		if err != nil && !native.Absent(err) {
			errs = append(errs, warn(path, err))
		}
		all = append(all, found...)
	}
	known := make(map[string]bool, len(all))
	for _, e := range all {
		known[e.ID] = true
	}
	files, err := legacyEntries(home, q)
	errs = append(errs, err)
	for _, e := range files {
		if !known[e.ID] {
			all = append(all, e)
		}
	}
	return slices.DeleteFunc(all, func(e discover.Entry) bool { return !asked(q, e) }), errors.Join(errs...)
}

// entriesIn lists the sessions of one database whose id fits the query.
func entriesIn(ctx context.Context, home discover.Home, path string, q discover.Query) (out []discover.Entry, err error) {
	where, args := idCondition(q)
	err = native.ReadDB(ctx, path, func(db *native.DB) error {
		out = nil
		if empty, err := checkTables(ctx, db); empty || err != nil {
			return err
		}
		columns, err := db.Columns(ctx, "session")
		if err != nil {
			return err
		}
		e := discover.Entry{Agent: discover.OpenCode, Path: path, Home: home.Dir}
		var updated int64
		query := "select s.id, " + integer(columns, "time_updated") + ", " + text(columns, "parent_id") + " from session s where " + where
		return db.Each(ctx, query, args, []any{&e.ID, &updated, &e.Parent}, func() error {
			if e.Updated = millis(updated); isSessionID(e.ID) {
				out = append(out, e)
			}
			return nil
		})
	})
	return out, err
}

// checkTables reports whether the database has nothing in it so far. One without the tables of sessions is another
// program's, or half made; a view in place of one could compute for ever.
func checkTables(ctx context.Context, db *native.DB) (empty bool, err error) {
	tables, err := db.Tables(ctx)
	if err != nil || len(tables) == 0 {
		return true, err
	}
	for _, name := range []string{"session", "message", "part"} {
		if !slices.Contains(tables, name) {
			return false, fmt.Errorf("no database of sessions: it has no table %q", name)
		}
	}
	return false, nil
}

// idCondition is the part of a query that the primary key answers. The rest is for [asked]: a JSON file is known to
// be taken over only if its session is found in the database, however old.
func idCondition(q discover.Query) (where string, args []any) {
	where = "true"
	if q.ID != "" {
		where, args = "s.id >= ? and s.id < ?", []any{q.ID, q.ID + "~"}
	}
	if q.Refs != nil {
		where += " and s.id in (" + marks(len(q.Refs)) + ")"
		for _, r := range q.Refs {
			args = append(args, r.ID)
		}
	}
	return where, args
}

// marks are n placeholders.
func marks(n int) string { return strings.TrimSuffix(strings.Repeat("?,", n), ",") }

// asked reports whether the query asks for this entry.
func asked(q discover.Query, e discover.Entry) bool {
	if !q.Children && e.Parent != "" || e.Updated.Before(q.Since) || !strings.HasPrefix(e.ID, q.ID) {
		return false
	}
	return q.Refs == nil || slices.ContainsFunc(q.Refs, func(r discover.Ref) bool {
		return r.ID == e.ID && (r.Path == "" || r.Path == e.Path)
	})
}

// integer and text name a column in a query, or stand for it where this version of the agent has none. Whatever
// type the value has, it is given as that one.
func integer(columns map[string]bool, name string) string {
	return column(columns, name, "integer", "0")
}

func text(columns map[string]bool, name string) string { return column(columns, name, "text", "''") }

func column(columns map[string]bool, name, kind, none string) string {
	if !columns[name] {
		return none
	}
	return "coalesce(cast(s." + name + " as " + kind + "), " + none + ")"
}
