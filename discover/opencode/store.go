package opencode

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/storage"
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
	known := map[string]bool{} // the IDs in databases
	for _, path := range databases {
		found, err := readDatabase(ctx, home.Dir, path, func(d *database) []discover.Entry { return d.entries(q) })
		all, errs = append(all, found...), append(errs, err)
		for _, e := range found {
			known[e.ID] = true
		}
	}
	files, err := legacyEntries(ctx, home, q)
	all = append(all, slices.DeleteFunc(files, func(e discover.Entry) bool { return known[e.ID] })...)
	return slices.DeleteFunc(all, func(e discover.Entry) bool { return !matches(q, e) }), errors.Join(append(errs, err)...)
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

// A reading of a database takes at most mostTogether sessions: so few that a writer's checkpoint rarely disturbs it, and that all their pages can
// be read ahead if one does. There are as many readings as processors, if each has leastTogether sessions.
const (
	leastTogether = 32
	mostTogether  = 600
)

// batch is sessions of one database that are read together, or one session in JSON files.
type batch []discover.Entry

func (b batch) ids() (ids []string) {
	for _, e := range b {
		ids = append(ids, e.ID)
	}
	return ids
}

// batches groups the entries by database.
func batches(entries []discover.Entry) (out []batch) {
	size := min(max(len(entries)/runtime.GOMAXPROCS(0)+1, leastTogether), mostTogether)
	last := map[[2]string]int{} // indexes of out, by database and home
	for _, e := range entries {
		key := [2]string{e.Path, e.Home}
		i, ok := last[key]
		if !ok || len(out[i]) == size {
			i = len(out)
			last[key], out = i, append(out, nil)
		}
		out[i] = append(out[i], e)
	}
	return out
}

// readSessions yields what read returns for the sessions of the entries, in any order, and warnings. A session that has vanished is left out
// without one. It calls read on a few goroutines.
func readSessions[T any](ctx context.Context, entries []discover.Entry, options discover.ReadOptions, read func(*session, rowReader) (T, bool)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		each := func(ctx context.Context, b batch, into *[]T) (ok bool, err error) {
			*into, err = readBatch(ctx, b, options, read)
			return len(*into) > 0, err
		}
		for results, err := range storage.ReadParallel(ctx, batches(entries), each) {
			if err != nil && !yield(*new(T), err) {
				return
			}
			for _, r := range *results {
				if !yield(r, nil) {
					return
				}
			}
		}
	}
}

// readBatch returns what read returns for the sessions of a batch.
func readBatch[T any](ctx context.Context, b batch, options discover.ReadOptions, read func(*session, rowReader) (T, bool)) (results []T, err error) {
	add := func(s *session, rows rowReader) {
		if r, ok := read(s, rows); ok {
			results = append(results, r)
		}
	}
	home, path := b[0].Home, b[0].Path
	if isLegacyPath(path) {
		err = readLegacySession(ctx, home, path, options, add)
		return results, err
	}
	return readDatabase(ctx, home, path, func(d *database) []T {
		results = nil
		for s := range d.sessions(b.ids(), options) {
			add(s, d.messages(s.ID))
		}
		return results
	})
}

// FilterContent implements [discover.Adapter]. It reads all parts of the sessions of a database. The sessions of the older JSON files are
// returned unread.
func (Adapter) FilterContent(ctx context.Context, entries []discover.Entry, match func([]byte) bool) (kept []discover.Entry) {
	each := func(ctx context.Context, b batch, into *[]discover.Entry) (bool, error) {
		*into = b.filter(ctx, match)
		return true, nil
	}
	for found, err := range storage.ReadParallel(ctx, batches(entries), each) {
		if err == nil { // each has none
			kept = append(kept, *found...)
		}
	}
	return kept
}

// filter returns the sessions of which a part may match or cannot be read.
func (b batch) filter(ctx context.Context, match func([]byte) bool) []discover.Entry {
	if isLegacyPath(b[0].Path) {
		return b
	}
	found, err := readDatabase(ctx, b[0].Home, b[0].Path, func(d *database) []discover.Entry {
		return slices.DeleteFunc(slices.Clone(b), func(e discover.Entry) bool { return !d.mayMatch(e.ID, match) })
	})
	if err != nil {
		return b
	}
	return found
}

func (d *database) mayMatch(session string, match func([]byte) bool) bool {
	before := d.Failures()
	table := "part"
	if d.isV2(session) {
		table = v2MessageTable
	}
	// A longer value cannot be read by a statement.
	for r := range d.db.Query(`SELECT CASE WHEN octet_length(data) < 1000000 THEN data END AS data FROM `+table+` WHERE session_id = ?`, session) {
		if data := r.Bytes("data", maxRow); data == nil || match(data) {
			return true
		}
	}
	return d.Failures() > before
}

// WatchPaths implements [discover.Adapter]. It returns the log, and the database with its write-ahead log. No supported version writes
// the JSON files of older ones.
func (Adapter) WatchPaths(_ context.Context, s discover.Session) []string {
	path := cmp.Or(s.Path, filepath.Join(s.Home, "opencode.db"))
	files := []string{filepath.Join(s.Home, "log", "opencode.log"), path}
	if !isLegacyPath(path) {
		files = append(files, path+"-wal")
	}
	return files
}
