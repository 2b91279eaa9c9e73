package opencode

import (
	"context"
	"errors"
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
	// legacy: the sessions in JSON files are read too. Only a process that is older than supported can run one.
	legacy    bool
	databases []string            // their paths
	loaded    []*session          // with the copies of a session in other databases
	sessions  map[string]*session // the first of those with one ID
	// failed: something could not be read, so that a session that is missing here may exist.
	failed bool
}

// listed reports whether the folder is a home, which may be read.
func (h *homeSessions) listed() bool { return len(h.homes) > 0 }

// addID adds a session to read.
func (h *homeSessions) addID(id string) {
	if isSessionID(id) && !slices.Contains(h.ids, id) {
		h.ids = append(h.ids, id)
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
			found, err := readDatabase(ctx, h.dir, path, h.find)
			h.failed, errs = h.failed || err != nil, append(errs, err)
			h.loaded = append(h.loaded, found...)
		}
		if h.legacy {
			found, err := h.readLegacy(ctx, home)
			h.loaded, errs = append(h.loaded, found...), append(errs, err)
		}
	}
	h.sessions = byID(h.loaded)
	return errors.Join(errs...)
}

// find returns the sessions in a database, and the sub-agents of those whose turn is in progress. A sub-agent is stored before the call that
// names it (SEEN 1.18.33).
func (h *homeSessions) find(d *database) []*session {
	ids := slices.Clone(h.ids)
	if !h.recentSince.IsZero() {
		ids = append(ids, d.idsSince(h.recentSince)...)
	}
	i := slices.IndexFunc(d.sessionTables, func(t sessionTable) bool { return t.name == v1SessionTable })
	if i < 0 {
		return nil // OpenCode 1 runs none
	}
	table := d.sessionTables[i]
	found := slices.Collect(d.sessionsIn(table, ids, discover.ReadOptions{}))
	for i := 0; i < len(found); i++ { // also those that the loop appends
		found[i].hasCopy = d.isV2(found[i].ID)
		if !found[i].isOpen() {
			continue
		}
		children := slices.DeleteFunc(d.ids(`SELECT id FROM session WHERE parent_id = ?`, found[i].ID), func(id string) bool {
			return !isSessionID(id) || slices.ContainsFunc(found, func(s *session) bool { return s.ID == id })
		})
		if len(children) > 0 {
			found = slices.AppendSeq(found, d.sessionsIn(table, children, discover.ReadOptions{}))
		}
	}
	return found
}

// isOpen reports whether the newest turn has not ended, by its storage.
func (s *session) isOpen() bool {
	state := s.tail.Turn().State
	return state == discover.TurnOpen || state == discover.TurnWaiting || state == discover.TurnUnknown
}

// readLegacy returns the sessions in JSON files.
func (h *homeSessions) readLegacy(ctx context.Context, home discover.Home) (found []*session, err error) {
	entries, err := legacyEntries(ctx, home, discover.EntryFilter{})
	errs := []error{err}
	for _, e := range entries {
		if e.Updated.Before(h.recentSince) && !slices.Contains(h.ids, e.ID) {
			continue
		}
		errs = append(errs, readLegacySession(ctx, h.dir, e.Path, discover.ReadOptions{}, func(s *session, _ rowReader) { found = append(found, s) }))
	}
	return found, errors.Join(errs...)
}

// byID returns the first of the sessions with each ID.
func byID(sessions []*session) map[string]*session {
	first := map[string]*session{}
	for _, s := range slices.Backward(sessions) {
		first[s.ID] = s
	}
	return first
}

// openedBy returns the sessions in the databases of the folder that a process has open, which are all that it can run; all sessions if it
// has none of them open. Another database may have a copy of a session.
func (h *homeSessions) openedBy(p *loggedProcess) *homeSessions {
	isOpen := func(path string) bool {
		return slices.ContainsFunc(p.databases(), func(o string) bool { return o == path || discover.SameFile(o, path) })
	}
	if len(h.databases) < 2 || !slices.ContainsFunc(h.databases, isOpen) {
		return h
	}
	own := *h
	own.sessions = byID(slices.DeleteFunc(slices.Clone(h.loaded), func(s *session) bool { return !isOpen(s.Path) }))
	return &own
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
