package discover

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"agentctl/discover/storage"
)

// AddClaim adds a claim of a session that is looked up in the stores by its ID alone. The warnings that the process of the
// claim and its sandbox hide something are dropped.
func (scan *Scan) AddClaim(ctx context.Context, c Claim) {
	homes := map[Agent][]Home{c.Agent: scan.homes[c.Agent]}
	found := scan.listEntries(ctx, homes, EntryFilter{Refs: []Ref{{ID: c.Session}}, Subagents: true})
	if all := slices.Concat(found...); len(all) == 1 {
		c.Path, c.Home = all[0].Path, all[0].Home
	}
	scan.claims = append(scan.claims, c)
	scan.readRecords(ctx, found, ReadOptions{})
	scan.warnings = slices.DeleteFunc(scan.warnings, func(warning *Warning) bool {
		return warning.Path == c.Process.String() || errors.Is(warning, errInSandbox)
	})
}

// ReadByID adds the records of the sessions with these IDs, from all known homes.
func (scan *Scan) ReadByID(ctx context.Context, ids map[Agent][]string) {
	refs := map[Agent][]Ref{}
	for agent, list := range ids {
		for _, id := range list {
			refs[agent] = append(refs[agent], Ref{ID: id})
		}
	}
	scan.readRefs(ctx, scan.homes, refs, ReadOptions{})
}

// readRefs adds the records of these sessions.
func (scan *Scan) readRefs(ctx context.Context, homes map[Agent][]Home, refs map[Agent][]Ref, options ReadOptions) {
	asked := map[Agent][]Home{}
	for agent := range refs {
		asked[agent] = homes[agent]
	}
	filterFor := func(a Agent) EntryFilter { return EntryFilter{Refs: refs[a], Subagents: true} }
	scan.readRecords(ctx, scan.listEntriesFor(ctx, asked, filterFor), options)
}

// listEntries lists what the stores in the given homes hold. It returns one list for each adapter.
func (scan *Scan) listEntries(ctx context.Context, homes map[Agent][]Home, filter EntryFilter) [][]Entry {
	return scan.listEntriesFor(ctx, homes, func(Agent) EntryFilter { return filter })
}

// listEntriesFor is listEntries with a filter for each agent.
func (scan *Scan) listEntriesFor(ctx context.Context, homes map[Agent][]Home, filterFor func(Agent) EntryFilter) [][]Entry {
	lists := askAdapters(scan, func(_ int, a Adapter) ([]Entry, error) {
		if len(homes[a.Name()]) == 0 {
			return nil, nil
		}
		entries, err := ListEntries(scan.confine(ctx, a.Name()), a, homes[a.Name()], filterFor(a.Name()))
		// A link out of one of these homes may lead into another one.
		entries, left := dropOutside(slices.Concat(homes[a.Name()], scan.homes[a.Name()]), entries)
		return entries, errors.Join(err, left)
	})
	for i := range lists {
		lists[i] = scan.joinEntries(lists[i])
	}
	return lists
}

// ListEntries is [Adapter.Entries], with the warnings about homes that cannot be used.
func ListEntries(ctx context.Context, a Adapter, homes []Home, filter EntryFilter) ([]Entry, error) {
	usable, unusable := checkHomes(ctx, a.Name(), homes)
	entries, err := a.Entries(ctx, usable, filter)
	return entries, errors.Join(unusable, err)
}

// checkHomes returns the homes without those that are no directories, and warnings about them and about those that the user has asked for and
// that do not exist.
func checkHomes(ctx context.Context, agent Agent, homes []Home) (usable []Home, err error) {
	for _, h := range homes {
		real, failed := storage.EvalSymlinks(ctx, h.Dir)
		if info, _ := os.Stat(real); info != nil && !info.IsDir() {
			failed = syscall.ENOTDIR
		}
		missing := storage.IsNotExist(failed)
		if failed != nil && !h.FilesOnly && (h.Explicit || !missing) {
			err = errors.Join(err, &Warning{Agent: agent, Path: h.Dir, Err: storage.WithoutPath(h.Dir, failed)})
		}
		if failed == nil || h.FilesOnly || missing {
			usable = append(usable, h)
		}
	}
	return usable, err
}

// EntryList is what an adapter finds in a home whose sessions are files.
type EntryList struct {
	Agent Agent
	Home  string
	// Since leaves out what has not changed since then.
	Since    time.Time
	Found    []Entry
	Warnings []error
}

// Add adds the file of a session, of which info was read, or the warning that err is.
func (l *EntryList) Add(e Entry, info storage.FileInfo, err error) {
	l.Warn(e.Path, err)
	if err == nil && !info.ModTime.Before(l.Since) {
		e.Agent, e.Home, e.Updated, e.Size = l.Agent, l.Home, info.ModTime, info.Size
		l.Found = append(l.Found, e)
	}
}

// Warn adds the warning about a path; see [NewWarning].
func (l *EntryList) Warn(path string, err error) {
	if warning := NewWarning(l.Agent, path, err); warning != nil {
		l.Warnings = append(l.Warnings, warning)
	}
}

// sortByUpdated sorts entries by their last change, newest first, in place.
func sortByUpdated(entries []Entry) []Entry {
	slices.SortStableFunc(entries, func(a, b Entry) int { return b.Updated.Compare(a.Updated) })
	return entries
}

func (scan *Scan) splitByAgent(entries []Entry) [][]Entry {
	out := make([][]Entry, len(scan.adapters))
	for _, e := range entries {
		i := slices.IndexFunc(scan.adapters, func(a Adapter) bool { return a.Name() == e.Agent })
		out[i] = append(out[i], e)
	}
	return out
}

// readRecords adds the records of the entries, one list for each adapter. Entries that were read before are left out.
func (scan *Scan) readRecords(ctx context.Context, entries [][]Entry, options ReadOptions) {
	for i := range entries {
		entries[i] = slices.DeleteFunc(entries[i], func(e Entry) bool { return scan.readKeys[e.key()] })
	}
	for _, e := range slices.Concat(entries...) {
		scan.readKeys[e.key()] = true
	}
	scan.records = append(scan.records, askAdapters(scan, func(i int, a Adapter) (records []Record, err error) {
		if len(entries[i]) == 0 {
			return nil, nil
		}
		var errs []error
		records = make([]Record, 0, len(entries[i]))
		for r, err := range a.Read(scan.confine(ctx, a.Name()), entries[i], options) {
			if err != nil {
				errs = append(errs, err)
				continue
			}
			records = append(records, r)
		}
		return records, errors.Join(errs...)
	})...)
}

// readClaimedRecords adds the records of the sessions that the wanted claims of live processes name, however old they are. A claim without a
// path has no record: its adapter has just searched for one.
func (scan *Scan) readClaimedRecords(ctx context.Context, options ReadOptions, wanted func(Claim) bool) {
	refs, homes := map[Agent][]Ref{}, map[Agent][]Home{}
	for _, c := range scan.claims {
		ref := Ref{c.Session, c.Path}
		if c.Path != "" && !c.LeftBehind && wanted(c) && !scan.readKeys[Key{c.Agent, c.Session, c.Path}] &&
			!slices.Contains(refs[c.Agent], ref) {
			refs[c.Agent] = append(refs[c.Agent], ref)
			for _, h := range scan.homesOfClaim(c) {
				if !slices.ContainsFunc(homes[c.Agent], h.same) {
					homes[c.Agent] = append(homes[c.Agent], h)
				}
			}
		}
	}
	scan.readRefs(ctx, homes, refs, options)
}

func anyClaim(Claim) bool { return true }

// homesOfClaim returns the homes in which the session of a claim may be stored: the home that it names, if that is known, or
// else all.
func (scan *Scan) homesOfClaim(c Claim) []Home {
	all, home := scan.homes[c.Agent], scan.homeOfPath(c)
	named := slices.DeleteFunc(slices.Clone(all), func(h Home) bool { return h.Dir != home })
	if len(named) > 0 {
		return named
	}
	return all
}

// Entry is one stored session as the store's directory or index shows it, before its content is read.
type Entry struct {
	Agent Agent
	ID    string
	// Path is the native file or database; Home the root it was found under.
	Path, Home string
	// Updated is when the file or row last changed; the newest record inside may be older.
	Updated time.Time
	// Size in bytes, where the store is a file a session.
	Size int64
	// Parent is set where the name alone tells that this is a sub-agent's session.
	Parent string
}

func (e Entry) key() Key { return Key{e.Agent, e.ID, e.Path} }

// FilterFiles is [Adapter.FilterContent] for sessions that are files of lines. It reads them whole.
func FilterFiles(ctx context.Context, entries []Entry, match func([]byte) bool) []Entry {
	return storage.FilterParallel(ctx, entries, func(ctx context.Context, e Entry) (found bool) {
		f, err := storage.Open(ctx, e.Path)
		if err != nil {
			return true
		}
		defer f.Close()
		err = f.Blocks(func(b []byte) bool {
			found = match(b)
			return !found
		})
		return found || err != nil
	})
}

// dropOlder removes, in place, the entries that have not changed since then, and counts them without those that are known to be
// sub-agents'. It keeps an entry without a time.
func dropOlder(entries []Entry, since time.Time) (kept []Entry, older int) {
	kept = slices.DeleteFunc(entries, func(e Entry) bool {
		if e.Updated.IsZero() || !e.Updated.Before(since) {
			return false
		}
		if e.Parent == "" {
			older++
		}
		return true
	})
	return kept, older
}
