package opencode

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/opencode/transcript"
)

// homeSessions is the sessions of one data folder that live processes may run.
type homeSessions struct {
	dir         string
	homes       []discover.Home // the data folder, and databases outside of it
	ids         []string        // the sessions that evidence names
	oldestStart time.Time       // of the processes that may run a session that no evidence names
	dirs        []string        // their working directories
	readLegacy  bool            // one of them has no database open: its session is in JSON files
	recentSince time.Time       // any session that began or got a prompt since then is read; none if it is zero
	sessions    map[string]*session
	databases   []string   // their paths
	loaded      []*session // with the copies of a session in other databases
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

// addProcess adds the sessions to read that began or got a prompt in a process's directory since the process started.
func (h *homeSessions) addProcess(p *loggedProcess) {
	if h.oldestStart.IsZero() || p.Started.Before(h.oldestStart) {
		h.oldestStart = p.Started
	}
	h.dirs = append(h.dirs, p.dir, discover.RealPath(p.dir))
	h.readLegacy = h.readLegacy || len(p.databases()) == 0
}

// load reads the sessions. Its errors are warnings.
func (h *homeSessions) load(ctx context.Context) error {
	if len(h.ids) == 0 && h.oldestStart.IsZero() && h.recentSince.IsZero() {
		return nil
	}
	var errs []error
	for _, home := range h.homes {
		databases, err := listDatabases(ctx, home)
		errs, h.databases = append(errs, err), append(h.databases, databases...)
		for _, path := range databases {
			err := warningUnlessGone(path, h.loadDatabase(ctx, path))
			h.failed, errs = h.failed || err != nil, append(errs, err)
		}
	}
	for _, home := range h.homes {
		errs = append(errs, h.loadLegacyFiles(ctx, home))
	}
	return errors.Join(errs...)
}

func (h *homeSessions) loadDatabase(ctx context.Context, path string) error {
	var found []session
	err := readDatabase(ctx, h.dir, path, func(d *database) {
		found = d.loadSessions(append(h.recentIDs(d), h.ids...), discover.ReadOptions{})
		// The loop appends the sub-agents that a call waits for, and also visits them.
		for i := 0; i < len(found); i++ {
			for _, call := range found[i].openTools() {
				known := slices.ContainsFunc(found, func(s session) bool { return s.ID == call.Child })
				if !known && isSessionID(call.Child) {
					found = append(found, d.loadSessions([]string{call.Child}, discover.ReadOptions{})...)
				}
			}
		}
	})
	if err == nil || isDamage(err) {
		for i := range found {
			h.add(&found[i])
		}
	}
	return err
}

// recentIDs returns the sessions that processes may run although no evidence names them: those in their directories that began or got a
// prompt since they started, and all that did so since recentSince.
func (h *homeSessions) recentIDs(d *database) (ids []string) {
	if !h.recentSince.IsZero() {
		ids = d.idsSince(h.recentSince)
	}
	if h.oldestStart.IsZero() {
		return ids
	}
	for _, s := range d.withIDs(d.idsSince(h.oldestStart.Add(-clockSlack))) {
		if r := d.sessionTable.Row(s.rowid); r != nil && slices.Contains(h.dirs, r.Text("directory", transcript.PathLimit)) {
			ids = append(ids, s.id)
		}
	}
	return ids
}

// loadLegacyFiles reads the sessions in JSON files that are in no database.
func (h *homeSessions) loadLegacyFiles(ctx context.Context, home discover.Home) error {
	named := discover.EntryFilter{Refs: []discover.Ref{}}
	for _, id := range h.ids {
		if h.sessions[id] == nil {
			named.Refs = append(named.Refs, discover.Ref{ID: id})
		}
	}
	entries, err := legacyEntries(ctx, home, named)
	errs := []error{err}
	if h.readLegacy {
		all, err := legacyEntries(ctx, home, discover.EntryFilter{})
		errs = append(errs, err)
		for _, e := range all {
			if !e.Updated.Before(h.oldestStart.Add(-clockSlack)) {
				entries = append(entries, e)
			}
		}
	}
	for _, e := range entries {
		if h.sessions[e.ID] != nil {
			continue
		}
		s, err := readLegacySession(ctx, h.dir, e.Path, discover.ReadOptions{})
		errs = append(errs, err)
		if s != nil {
			h.add(s)
		}
	}
	err = errors.Join(errs...)
	h.failed = h.failed || err != nil
	return err
}

// add adds a session. Of those with one ID the first counts: databases are read before files.
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
func (h *homeSessions) children(parent string) []*session {
	return h.sorted(func(s *session) bool { return s.Parent == parent })
}

// candidates returns the sessions that a process may run by directory and time, sorted by ID.
func (h *homeSessions) candidates(p *loggedProcess) []*session { return h.sorted(p.fits) }

func (h *homeSessions) sorted(matches func(*session) bool) (sessions []*session) {
	for _, s := range h.sessions {
		if matches(s) {
			sessions = append(sessions, s)
		}
	}
	slices.SortFunc(sessions, func(a, b *session) int { return strings.Compare(a.ID, b.ID) })
	return sessions
}

// fits reports whether the process may run a session by directory and time. A process that resumes none cannot run a session that another
// process is known to have created.
func (p *loggedProcess) fits(s *session) bool {
	return p.dir != "" && s.Parent == "" && discover.RealPath(s.Dir) == discover.RealPath(p.dir) && p.startFits(s) && (p.resumes || !p.createdByAnother(s.ID))
}

// maxStartup is how long a headless process may take to store its session (4.3 s SEEN on a busy machine).
const maxStartup = 30 * time.Second

// startFits reports whether the process may run a session by the time at which the session, or its newest turn, began.
func (p *loggedProcess) startFits(s *session) bool {
	if p.mode == modeTUI {
		return !s.headless && p.StartedBefore(s.Created)
	}
	created := s.Created
	if p.resumes && s.tail.Last != nil {
		created = s.lastCreated()
	}
	return p.StartedBefore(created) && (p.resumes || created.Before(p.PreciseStart().Add(maxStartup)))
}
