package opencode

import (
	"context"
	"errors"
	"slices"
	"strings"

	"agentctl/discover"
)

// Entries implements [discover.Adapter]. It lists the sessions of all databases, and those in JSON files that are in no database.
func (Adapter) Entries(ctx context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	var out []discover.Entry
	var errs []error
	for _, home := range homes {
		found, err := homeEntries(ctx, home, q)
		out, errs = append(out, found...), append(errs, err)
	}
	return out, errors.Join(errs...)
}

func homeEntries(ctx context.Context, home discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	if !isSessionIDPrefix(q.ID) {
		return nil, nil // an ID of another agent
	}
	databases, err := listDatabases(ctx, home)
	errs := []error{err}
	var all []discover.Entry
	for _, path := range databases {
		found, err := databaseEntries(ctx, home, path, q)
		all, errs = append(all, found...), append(errs, warningUnlessGone(path, err))
	}
	files, err := legacyEntries(ctx, home, q)
	errs = append(errs, err)
	all = append(all, notMigrated(files, all)...)
	return slices.DeleteFunc(all, func(e discover.Entry) bool { return !matches(q, e) }), errors.Join(errs...)
}

// notMigrated returns the entries of JSON files that are in no database.
func notMigrated(files, migrated []discover.Entry) []discover.Entry {
	if len(files) == 0 {
		return nil
	}
	known := make(map[string]bool, len(migrated))
	for _, e := range migrated {
		known[e.ID] = true
	}
	return slices.DeleteFunc(files, func(e discover.Entry) bool { return known[e.ID] })
}

// databaseEntries lists the sessions of a database.
func databaseEntries(ctx context.Context, home discover.Home, path string, q discover.EntryFilter) (out []discover.Entry, err error) {
	hasV2 := false
	err = readDatabase(ctx, home.Dir, path, func(d *database) {
		out, hasV2 = d.entries(q), d.hasV2
	})
	if err == nil && hasV2 && q.Refs == nil && q.Parents == nil {
		err = errV2Sessions
	}
	return out, err
}

// matches reports whether the entry matches the filter.
func matches(q discover.EntryFilter, e discover.Entry) bool {
	if !q.Subagents && e.Parent != "" || e.Updated.Before(q.Since) || !strings.HasPrefix(e.ID, q.ID) {
		return false
	}
	return q.Refs == nil || slices.ContainsFunc(q.Refs, func(r discover.Ref) bool {
		return r.ID == e.ID && (r.Path == "" || r.Path == e.Path)
	})
}
