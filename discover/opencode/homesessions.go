package opencode

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/discover/opencode/transcript"
)

// homeSessions is what a home holds of the sessions that live processes may run.
type homeSessions struct {
	dir         string          // of all of its homes
	homes       []discover.Home // the folder, and databases outside of it
	ids         []string
	oldestStart time.Time // of the oldest process that may run a session it does not name
	dirs        []string  // where such processes were started
	readLegacy  bool      // such a process has no database open: its sessions are in files
	recentSince time.Time // from then on any session is read; zero where none is asked for
	sessions    map[string]*session
	// failed: something could not be read, so that a session not found may exist.
	failed bool
}

func newHomeSessions(dir string, homes ...discover.Home) *homeSessions {
	return &homeSessions{dir: dir, homes: homes, sessions: map[string]*session{}}
}

func (l *homeSessions) addID(id string) {
	if isSessionID(id) && !slices.Contains(l.ids, id) {
		l.ids = append(l.ids, id)
	}
}

// addSince asks for the sessions that were begun or prompted where the process is, from then on.
func (l *homeSessions) addSince(sub *loggedProcess, start time.Time) {
	if l.oldestStart.IsZero() || start.Before(l.oldestStart) {
		l.oldestStart = start
	}
	l.dirs = append(l.dirs, sub.dir, discover.RealPath(sub.dir))
	l.readLegacy = l.readLegacy || len(sub.databases()) == 0
}

// load reads them; its errors are warnings.
func (l *homeSessions) load(ctx context.Context) error {
	if len(l.ids) == 0 && l.oldestStart.IsZero() && l.recentSince.IsZero() {
		return nil
	}
	var errs []error
	for _, home := range l.homes {
		databases, err := listDatabases(ctx, home)
		errs = append(errs, err)
		for _, path := range databases {
			if err := l.loadDatabase(ctx, path); err != nil && !fsread.IsNotExist(err) {
				l.failed = true
				errs = append(errs, newWarning(path, err))
			}
		}
	}
	for _, home := range l.homes {
		errs = append(errs, l.loadLegacyFiles(ctx, home))
	}
	return errors.Join(errs...)
}

func (l *homeSessions) loadDatabase(ctx context.Context, path string) error {
	var found []session
	err := readDatabase(ctx, l.dir, path, func(st *database) {
		found = st.loadSessions(append(l.recentIDs(st), l.ids...), discover.ReadOptions{})
		// Sub-agents that a call waits for, and theirs: found grows while it is gone through.
		for i := 0; i < len(found); i++ {
			for _, p := range found[i].tail.RunningTools() {
				known := slices.ContainsFunc(found, func(s session) bool { return s.ID == p.Child })
				if !known && isSessionID(p.Child) {
					found = append(found, st.loadSessions([]string{p.Child}, discover.ReadOptions{})...)
				}
			}
		}
	})
	if err == nil || isDamage(err) {
		for i := range found {
			l.add(&found[i])
		}
	}
	return err
}

// recentIDs are the sessions that were begun or prompted where and since such processes were started, and all of the last
// moments.
func (l *homeSessions) recentIDs(st *database) (out []string) {
	if !l.recentSince.IsZero() {
		out = st.idsSince(l.recentSince)
	}
	if l.oldestStart.IsZero() {
		return out
	}
	for _, found := range st.withIDs(st.idsSince(l.oldestStart.Add(-clockSlack))) {
		if r := st.sessionTable.Row(found.rowid); r != nil && slices.Contains(l.dirs, r.Text("directory", transcript.PathLimit)) {
			out = append(out, found.id)
		}
	}
	return out
}

// loadLegacyFiles reads the JSON files in a folder of those that no database has.
func (l *homeSessions) loadLegacyFiles(ctx context.Context, home discover.Home) error {
	q := discover.EntryFilter{Refs: []discover.Ref{}}
	for _, id := range l.ids {
		if l.sessions[id] == nil {
			q.Refs = append(q.Refs, discover.Ref{ID: id})
		}
	}
	entries, err := legacyEntries(ctx, home, q)
	errs := []error{err}
	if l.readLegacy {
		more, err := legacyEntries(ctx, home, discover.EntryFilter{})
		errs = append(errs, err)
		for _, e := range more {
			if !e.Updated.Before(l.oldestStart.Add(-clockSlack)) {
				entries = append(entries, e)
			}
		}
	}
	for _, e := range entries {
		if l.sessions[e.ID] != nil {
			continue
		}
		s, err := readLegacySession(ctx, l.dir, e.Path, discover.ReadOptions{})
		errs = append(errs, err)
		if s != nil {
			l.add(s)
		}
	}
	err = errors.Join(errs...)
	l.failed = l.failed || err != nil
	return err
}

// add keeps the first of two sessions with one id: databases come before files.
func (l *homeSessions) add(s *session) {
	if l.sessions[s.ID] == nil {
		l.sessions[s.ID] = s
	}
}

// candidates are the sessions that a process may run judged by place and time alone. One that goes on with none runs
// none that another process is known to have made.
func (l *homeSessions) candidates(sub *loggedProcess) []*session {
	var out []*session
	for _, s := range l.sessions {
		if sub.fits(s) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *session) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// fits reports whether a process may run a session judged by place and time alone.
func (sub *loggedProcess) fits(s *session) bool {
	return sub.dir != "" && s.Parent == "" && discover.RealPath(s.Dir) == discover.RealPath(sub.dir) && sub.startFits(s) && (sub.resumes || !sub.createdByAnother(s.ID))
}

// maxStartup is how long a headless process may take until its session stands in the store (4.3 s SEEN on a busy
// machine).
const maxStartup = 30 * time.Second

// startFits reports whether the session's beginning fits the process.
func (sub *loggedProcess) startFits(s *session) bool {
	if sub.mode == modeTUI {
		return !s.headless && sub.StartedBefore(s.Created)
	}
	created := s.Created
	if sub.resumes && s.tail.Last != nil {
		created = s.lastCreated()
	}
	return sub.StartedBefore(created) && (sub.resumes || created.Before(sub.PreciseStart().Add(maxStartup)))
}
