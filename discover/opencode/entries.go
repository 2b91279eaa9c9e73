package opencode

import (
	"context"
	"errors"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// Entries lists the sessions of all databases, and of the JSON files that no database has taken over.
func (Adapter) Entries(ctx context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	var out []discover.Entry
	var errs []error
	for _, home := range homes {
		found, err := entriesOf(ctx, home, q)
		out, errs = discover.AppendEntries(out, found), append(errs, err)
	}
	return out, errors.Join(errs...)
}

func entriesOf(ctx context.Context, home discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	if !beginsSessionID(q.ID) {
		return nil, nil // another agent's
	}
	databases, err := databasesOf(ctx, home)
	errs := []error{err}
	var all []discover.Entry
	for _, path := range databases {
		found, err := entriesIn(ctx, home, path, q)
		if err != nil && !fsread.IsNotExist(err) {
			errs = append(errs, warn(path, err))
		}
		all = discover.AppendEntries(all, found)
	}
	files, err := legacyEntries(ctx, home, q)
	errs = append(errs, err)
	all = discover.AppendEntries(all, untaken(files, all))
	return slices.DeleteFunc(all, func(e discover.Entry) bool { return !asked(q, e) }), errors.Join(errs...)
}

// untaken are those of the files that no database has taken over.
func untaken(files, taken []discover.Entry) []discover.Entry {
	if len(files) == 0 {
		return nil
	}
	known := make(map[string]bool, len(taken))
	for _, e := range taken {
		known[e.ID] = true
	}
	return slices.DeleteFunc(files, func(e discover.Entry) bool { return known[e.ID] })
}

// entriesIn lists the sessions of one database whose id fits the query. One that cannot be read is an entry only if it is
// asked for itself: else nobody would come to read it, as its time is not known, and the error names it.
func entriesIn(ctx context.Context, home discover.Home, path string, q discover.EntryFilter) (out []discover.Entry, err error) {
	second := false
	err = readStore(ctx, home.Dir, path, func(st *store) {
		out, second = nil, st.second
		for _, l := range st.list(q) {
			switch {
			case !isSessionID(l.id):
			case l.unreadable && q.Refs == nil && q.ID == "":
				st.lost.unreadable = append(st.lost.unreadable, l.id)
			default:
				out = discover.AppendEntry(out, discover.Entry{
					Agent: agentName, Path: path, Home: home.Dir, ID: l.id, Parent: l.parent, Updated: millis(l.updated),
				})
			}
		}
	})
	if err == nil && second && q.Refs == nil && q.Parents == nil {
		err = errSecond
	}
	return out, err
}

// asked reports whether the query asks for this entry.
func asked(q discover.EntryFilter, e discover.Entry) bool {
	if !q.Subagents && e.Parent != "" || e.Updated.Before(q.Since) || !strings.HasPrefix(e.ID, q.ID) {
		return false
	}
	return q.Refs == nil || slices.ContainsFunc(q.Refs, func(r discover.Ref) bool {
		return r.ID == e.ID && (r.Path == "" || r.Path == e.Path)
	})
}
