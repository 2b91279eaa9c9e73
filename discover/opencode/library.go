package opencode

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// library is what a home holds of the sessions that live processes may run.
type library struct {
	dir      string          // of all of its homes
	homes    []discover.Home // the folder, and databases outside of it
	ids      []string
	start    time.Time // of the oldest process that may run a session it does not name
	dirs     []string  // where such processes were started
	files    bool      // such a process has no database open: its sessions are in files
	latest   time.Time // from then on any session is read; zero where none is asked for
	sessions map[string]*stored
	// failed: something could not be read, so that a session not found may exist.
	failed bool
}

func newLibrary(dir string, homes ...discover.Home) *library {
	return &library{dir: dir, homes: homes, sessions: map[string]*stored{}}
}

func (l *library) want(id string) {
	if isSessionID(id) && !slices.Contains(l.ids, id) {
		l.ids = append(l.ids, id)
	}
}

// since asks for the sessions that were begun or prompted where the process is, from then on.
func (l *library) since(sub *subject, start time.Time) {
	if l.start.IsZero() || start.Before(l.start) {
		l.start = start
	}
	l.dirs = append(l.dirs, sub.dir, discover.RealPath(sub.dir))
	l.files = l.files || len(sub.databases()) == 0
}

// load reads them; its errors are warnings.
func (l *library) load(ctx context.Context) error {
	if len(l.ids) == 0 && l.start.IsZero() && l.latest.IsZero() {
		return nil
	}
	var errs []error
	for _, home := range l.homes {
		databases, err := databasesOf(ctx, home)
		errs = append(errs, err)
		for _, path := range databases {
			if err := l.loadDatabase(ctx, path); err != nil && !fsread.IsNotExist(err) {
				l.failed = true
				errs = append(errs, warn(path, err))
			}
		}
	}
	for _, home := range l.homes {
		errs = append(errs, l.loadFiles(ctx, home))
	}
	return errors.Join(errs...)
}

func (l *library) loadDatabase(ctx context.Context, path string) error {
	var found []stored
	err := readStore(ctx, l.dir, path, func(st *store) {
		found = st.load(append(l.recent(st), l.ids...), discover.ReadOptions{})
		// Sub-agents that a call waits for, and theirs: found grows while it is gone through.
		for i := 0; i < len(found); i++ {
			for _, p := range found[i].running() {
				known := slices.ContainsFunc(found, func(s stored) bool { return s.ID == p.child })
				if !known && isSessionID(p.child) {
					found = append(found, st.load([]string{p.child}, discover.ReadOptions{})...)
				}
			}
		}
	})
	if err == nil || isLost(err) {
		for i := range found {
			l.add(&found[i])
		}
	}
	return err
}

// recent are the sessions that were begun or prompted where and since such processes were started, and all of the last
// moments.
func (l *library) recent(st *store) (out []string) {
	if !l.latest.IsZero() {
		out = st.idsSince(l.latest)
	}
	if l.start.IsZero() {
		return out
	}
	for _, found := range st.find(st.idsSince(l.start.Add(-clockSlack))) {
		if r := st.session.Row(found.rowid); r != nil && slices.Contains(l.dirs, r.Text("directory", maxText)) {
			out = append(out, found.id)
		}
	}
	return out
}

// loadFiles reads the JSON files in a folder of those that no database has.
func (l *library) loadFiles(ctx context.Context, home discover.Home) error {
	q := discover.EntryFilter{Refs: []discover.Ref{}}
	for _, id := range l.ids {
		if l.sessions[id] == nil {
			q.Refs = append(q.Refs, discover.Ref{ID: id})
		}
	}
	entries, err := legacyEntries(ctx, home, q)
	errs := []error{err}
	if l.files {
		more, err := legacyEntries(ctx, home, discover.EntryFilter{})
		errs = append(errs, err)
		for _, e := range more {
			if !e.Updated.Before(l.start.Add(-clockSlack)) {
				entries = append(entries, e)
			}
		}
	}
	for _, e := range entries {
		if l.sessions[e.ID] != nil {
			continue
		}
		s, err := loadLegacy(ctx, l.dir, e.Path, discover.ReadOptions{})
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
func (l *library) add(s *stored) {
	if l.sessions[s.ID] == nil {
		l.sessions[s.ID] = s
	}
}

// candidates are the sessions that a process may run judged by place and time alone. One that goes on with none runs
// none that another process is known to have made.
func (l *library) candidates(sub *subject) []*stored {
	var out []*stored
	for _, s := range l.sessions {
		if sub.fits(s) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b *stored) int { return strings.Compare(a.ID, b.ID) })
	return out
}

// fits reports whether a process may run a session judged by place and time alone.
func (sub *subject) fits(s *stored) bool {
	return sub.dir != "" && s.Parent == "" && discover.RealPath(s.Dir) == discover.RealPath(sub.dir) && sub.begun(s) && (sub.resumes || !sub.othersMade(s.ID))
}

// startup is how long a headless process may take until its session stands in the store (4.3 s SEEN on a busy
// machine).
const startup = 30 * time.Second

// begun reports whether the session's beginning fits the process.
func (sub *subject) begun(s *stored) bool {
	if sub.mode == modeTUI {
		return !s.headless && sub.StartedBefore(s.Created)
	}
	created := s.Created
	if sub.resumes && s.last != nil {
		created = millis(s.last.created)
	}
	return sub.StartedBefore(created) && (sub.resumes || created.Before(sub.PreciseStart().Add(startup)))
}
