package opencode

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
)

// homeSessions is the sessions of one data folder that live processes may run.
type homeSessions struct {
	dir         string
	homes       []discover.Home // the data folder, and databases outside of it
	ids         []string        // the sessions that evidence names
	recentSince time.Time       // any session that began or got a prompt since then is read; none if it is zero
	sessions    map[string]*session
	databases   []string   // their paths
	loaded      []*session // with the copies of a session in other databases
	// legacy: the sessions in JSON files are read too. Only a process that is older than supported can run one.
	legacy bool
	// failed: something could not be read, so that a session that is missing here may exist.
	failed bool
}

func newHomeSessions(dir string, homes ...discover.Home) *homeSessions {
	return &homeSessions{dir: dir, homes: homes, sessions: map[string]*session{}}
}

// listed reports whether the folder is a home, which may be read.
func (h *homeSessions) listed() bool { return len(h.homes) > 0 }

// addID adds a session to read.
func (h *homeSessions) addID(id string) {
	if isSessionID(id) && !slices.Contains(h.ids, id) {
		h.ids = append(h.ids, id)
	}
}

// addRecent adds the sessions to read that began or got a prompt since a time.
func (h *homeSessions) addRecent(since time.Time) {
	if h.recentSince.IsZero() || since.Before(h.recentSince) {
		h.recentSince = since
	}
}

// load reads the sessions. Its errors are warnings.
func (h *homeSessions) load(ctx context.Context) error {
	if len(h.ids) == 0 && h.recentSince.IsZero() {
		return nil
	}
	var errs []error
	for _, home := range h.homes {
		databases, err := listDatabases(ctx, home)
		errs, h.databases = append(errs, err), append(h.databases, databases...)
		for _, path := range databases {
			err := h.loadDatabase(ctx, path)
			h.failed, errs = h.failed || err != nil, append(errs, err)
		}
		if h.legacy {
			errs = append(errs, h.loadLegacy(ctx, home))
		}
	}
	return errors.Join(errs...)
}

func (h *homeSessions) loadDatabase(ctx context.Context, path string) error {
	found, err := readDatabase(ctx, h.dir, path, func(d *database) []*session {
		ids := slices.Clone(h.ids)
		if !h.recentSince.IsZero() {
			ids = append(ids, d.idsSince(h.recentSince)...)
		}
		found := slices.Collect(d.sessions(ids, discover.ReadOptions{}))
		// The loop appends the sub-agents that a call waits for, and also visits them.
		for i := 0; i < len(found); i++ {
			for _, call := range found[i].openTools() {
				known := slices.ContainsFunc(found, func(s *session) bool { return s.ID == call.Child })
				if !known && isSessionID(call.Child) {
					found = slices.AppendSeq(found, d.sessions([]string{call.Child}, discover.ReadOptions{}))
				}
			}
		}
		return found
	})
	for _, s := range found {
		h.add(s)
	}
	return err
}

// loadLegacy reads the sessions in JSON files.
func (h *homeSessions) loadLegacy(ctx context.Context, home discover.Home) error {
	entries, err := legacyEntries(ctx, home, discover.EntryFilter{})
	errs := []error{err}
	for _, e := range entries {
		if e.Updated.Before(h.recentSince) && !slices.Contains(h.ids, e.ID) {
			continue
		}
		s, err := readLegacySession(ctx, h.dir, e.Path, discover.ReadOptions{})
		if errs = append(errs, err); s != nil {
			h.add(s)
		}
	}
	return errors.Join(errs...)
}

// add adds a session. Of those with one ID the first counts.
func (h *homeSessions) add(s *session) {
	h.loaded = append(h.loaded, s)
	if h.sessions[s.ID] == nil {
		h.sessions[s.ID] = s
	}
}

// openedBy returns the sessions in the databases of the folder that a process has open, which are all that it can run; all sessions if it
// has none of them open. Another database may have a copy of a session.
func (h *homeSessions) openedBy(p *loggedProcess) *homeSessions {
	if len(h.databases) < 2 {
		return h
	}
	open := slices.DeleteFunc(slices.Clone(h.databases), func(path string) bool {
		return !slices.ContainsFunc(p.databases(), func(o string) bool { return sameFile(o, path) })
	})
	if len(open) == 0 {
		return h
	}
	own := *h
	own.sessions, own.loaded = map[string]*session{}, nil
	for _, s := range h.loaded {
		if slices.Contains(open, s.Path) {
			own.add(s)
		}
	}
	return &own
}

// sameFile reports whether two paths lead to one file.
func sameFile(a, b string) bool {
	if a == b {
		return true
	}
	x, err := os.Stat(a)
	y, err2 := os.Stat(b)
	return err == nil && err2 == nil && os.SameFile(x, y)
}

// children returns the sessions that work as sub-agents for the given one, sorted by ID. For "", it returns the sessions without a parent.
func (h *homeSessions) children(parent string) (sessions []*session) {
	for _, s := range h.sessions {
		if s.Parent == parent {
			sessions = append(sessions, s)
		}
	}
	slices.SortFunc(sessions, func(a, b *session) int { return strings.Compare(a.ID, b.ID) })
	return sessions
}
