package opencode

import (
	"context"
	"errors"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/opencode/transcript"
)

// Entries lists the sessions of all databases, and of the JSON files that no database has taken over.
func (Adapter) Entries(ctx context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	var out []discover.Entry
	var errs []error
	for _, home := range homes {
		found, err := homeEntries(ctx, home, q)
		out, errs = discover.AppendEntries(out, found), append(errs, err)
	}
	return out, errors.Join(errs...)
}

func homeEntries(ctx context.Context, home discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	if !isSessionIDPrefix(q.ID) {
		return nil, nil // another agent's
	}
	databases, err := listDatabases(ctx, home)
	errs := []error{err}
	var all []discover.Entry
	for _, path := range databases {
		found, err := databaseEntries(ctx, home, path, q)
		if err != nil && !fsread.IsNotExist(err) {
			errs = append(errs, newWarning(path, err))
		}
		all = discover.AppendEntries(all, found)
	}
	files, err := legacyEntries(ctx, home, q)
	errs = append(errs, err)
	all = discover.AppendEntries(all, notMigrated(files, all))
	return slices.DeleteFunc(all, func(e discover.Entry) bool { return !matches(q, e) }), errors.Join(errs...)
}

// notMigrated are those of the files that no database has taken over.
func notMigrated(files, taken []discover.Entry) []discover.Entry {
	if len(files) == 0 {
		return nil
	}
	known := make(map[string]bool, len(taken))
	for _, e := range taken {
		known[e.ID] = true
	}
	return slices.DeleteFunc(files, func(e discover.Entry) bool { return known[e.ID] })
}

// databaseEntries lists the sessions of one database whose id fits the query. One that cannot be read is an entry only if it is
// asked for itself: else nobody would come to read it, as its time is not known, and the error names it.
func databaseEntries(ctx context.Context, home discover.Home, path string, q discover.EntryFilter) (out []discover.Entry, err error) {
	second := false
	err = readDatabase(ctx, home.Dir, path, func(st *database) {
		out, second = nil, st.hasV2
		for _, l := range st.listSessions(q) {
			switch {
			case !isSessionID(l.id):
			case l.unreadable && q.Refs == nil && q.ID == "":
				st.damage.unreadable = append(st.damage.unreadable, l.id)
			default:
				out = discover.AppendEntry(out, discover.Entry{
					Agent: agentName, Path: path, Home: home.Dir, ID: l.id, Parent: l.parent, Updated: transcript.Time(l.updated),
				})
			}
		}
	})
	if err == nil && second && q.Refs == nil && q.Parents == nil {
		err = errV2Sessions
	}
	return out, err
}

// matches reports whether the query asks for this entry.
func matches(q discover.EntryFilter, e discover.Entry) bool {
	if !q.Subagents && e.Parent != "" || e.Updated.Before(q.Since) || !strings.HasPrefix(e.ID, q.ID) {
		return false
	}
	return q.Refs == nil || slices.ContainsFunc(q.Refs, func(r discover.Ref) bool {
		return r.ID == e.ID && (r.Path == "" || r.Path == e.Path)
	})
}
