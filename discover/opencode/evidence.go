package opencode

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
	"agentctl/proc"
)

// evidence is one look at the live processes of the agent.
type evidence struct {
	ctx       context.Context // it lives as long as one call
	table     *proc.Table
	now       time.Time
	processes []*loggedProcess
	homes     map[string]*homeSessions // by the folder's name in Home
	errs      []error
}

// loggedProcess is a process and what its log tells of it.
type loggedProcess struct {
	process
	home string // its data folder as a Home names it
	// hasLog: the log can be read for this process. If it names no session then, none was prompted in it.
	hasLog             bool
	run                string // its name in the log
	logKind, logDetail string // of the evidence in the log
	sessions           map[string]logEvent
	// history is what the shared log says of late of all sessions; sharedLog: the process writes into one that can be read.
	history         logHistory
	writesSharedLog bool
	// lastFlush is when the process logged the last line that it has written; zero where it has written none.
	lastFlush time.Time
}

// createdByAnother reports whether the log says that another process made the session.
func (sub *loggedProcess) createdByAnother(id string) bool {
	run, ok := sub.history.creators[id]
	return ok && run != sub.run
}

func newEvidence(ctx context.Context, table *proc.Table, homes []discover.Home) *evidence {
	s := &evidence{ctx: ctx, table: table, now: time.Now(), homes: map[string]*homeSessions{}}
	real := map[string]string{}
	for _, h := range homes {
		if s.homes[h.Dir] == nil {
			s.homes[h.Dir] = newHomeSessions(h.Dir)
		}
		s.homes[h.Dir].homes = append(s.homes[h.Dir].homes, h)
		real[discover.RealPath(h.Dir)] = h.Dir
	}
	for _, p := range processes(table) {
		sub := &loggedProcess{process: p, home: p.dataDir}
		if s.homes[p.dataDir] == nil && !p.foreign { // it may be known by another name
			sub.home = cmp.Or(real[discover.RealPath(p.dataDir)], p.dataDir)
		}
		s.processes = append(s.processes, sub)
	}
	return s
}

// logHandle is a log as one process has it open.
type logHandle struct {
	process   *loggedProcess
	file      proc.OpenFile
	run       string
	lastFlush time.Time
}

// readLogs finds in the logs which sessions each process has worked on.
func (s *evidence) readLogs() {
	shared := map[string][]logHandle{}
	for _, sub := range s.processes {
		if s.homes[sub.home] == nil {
			continue // nothing of a home is opened that is not listed
		}
		s.readProcessLogs(sub)
		for _, f := range sub.files {
			if !isLog(f.Path) || !isSharedLog(f.Path) || f.Offset == 0 && !sub.wroteNothing(f.Path) {
				continue
			}
			key := f.Path
			if f.Deleted || f.PathDiffers {
				key = f.Proc
			}
			shared[key] = append(shared[key], logHandle{process: sub, file: f})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(shared)) {
		s.warn(shared[key][0].file.Path, s.readSharedLog(shared[key]))
	}
}

// wroteNothing reports whether the process has written nothing into the log so far: which run the log names for a session
// tells which are not its own. A terminal's process opens the log twice, and writes by one of the two.
func (sub *loggedProcess) wroteNothing(log string) bool {
	return !slices.ContainsFunc(sub.files, func(f proc.OpenFile) bool { return f.Path == log && f.Offset > 0 })
}

// readSharedLog reads one log for all processes that write it. The log is opened after the offsets were read: what
// they point at is in it.
func (s *evidence) readSharedLog(list []logHandle) error {
	log, err := openLog(s.ctx, list[0].process.home, list[0].file)
	if err != nil {
		return err
	}
	defer log.Close()
	runs := map[string]time.Time{}
	for i := range list {
		o := &list[i]
		if o.run, o.lastFlush, err = lastRun(log, o.file.Offset); err != nil { // "" of one that is silent
			return err
		}
		if old, ok := runs[o.run]; !ok || o.process.Started.Before(old) {
			runs[o.run] = o.process.Started
		}
	}
	said, history, err := readLogEvents(log, runs)
	if err != nil {
		return err
	}
	for _, o := range list {
		o.process.history, o.process.writesSharedLog = history, true
		if o.run == "" {
			continue
		}
		o.process.hasLog, o.process.run, o.process.lastFlush, o.process.logKind = true, o.run, o.lastFlush, "log-offset"
		o.process.logDetail = fmt.Sprintf("wrote %s up to byte %d as run=%s, which names the session", o.file.Path, o.file.Offset, o.run)
		o.process.addSessions(said[o.run])
	}
	return nil
}

// readProcessLogs reads the logs of a process before 1.17. They count together or not at all: one that another process writes
// too leaves open what this one did.
func (s *evidence) readProcessLogs(sub *loggedProcess) {
	var found processLogs
	seen, where := map[string]bool{}, ""
	for _, f := range sub.files {
		if !isLog(f.Path) || isSharedLog(f.Path) || seen[f.Path] {
			continue
		}
		seen[f.Path] = true
		named, err := s.readProcessLog(&found, sub, f)
		if s.warn(f.Path, err); err != nil || s.sharesLog(sub, f) {
			return
		}
		if named || where == "" {
			where = f.Path
		}
	}
	if !found.exclusive() {
		return
	}
	sub.hasLog, sub.logKind = true, "log-file"
	sub.logDetail = where + " is written by this process alone and names the session"
	for _, id := range found.sessions {
		sub.addSessions(map[string]logEvent{id: {}})
	}
}

func (s *evidence) readProcessLog(found *processLogs, sub *loggedProcess, f proc.OpenFile) (named bool, err error) {
	log, err := openLog(s.ctx, sub.home, f)
	if err != nil {
		return false, err
	}
	defer log.Close()
	return found.read(log, sub.args)
}

func (s *evidence) sharesLog(sub *loggedProcess, f proc.OpenFile) bool {
	return slices.ContainsFunc(s.processes, func(o *loggedProcess) bool {
		return o != sub && slices.ContainsFunc(o.files, func(g proc.OpenFile) bool { return g.Path == f.Path && g.PathDiffers == f.PathDiffers })
	})
}

func (sub *loggedProcess) addSessions(sessions map[string]logEvent) {
	if sub.sessions == nil {
		sub.sessions = map[string]logEvent{}
	}
	maps.Copy(sub.sessions, sessions)
}

// needsInference reports whether the process may run a session of any age that its log does not name: the log is turned down, or
// is of a time when it could be shared.
func (sub *loggedProcess) needsInference() bool {
	return len(sub.sessions) == 0 && (sub.mode == modeRun || sub.mode == modeTUI && !sub.hasLog)
}

// load reads the sessions that the evidence names or may name.
func (s *evidence) load(ctx context.Context) {
	for _, sub := range s.processes {
		lib, ok := s.homes[sub.home]
		for _, asked := range s.homes {
			if asked != lib && !sub.foreign {
				continue // a foreign one's session may be called as one of any home
			}
			for id := range sub.sessions {
				asked.addID(id)
			}
			asked.addID(sub.session)
		}
		if !ok {
			continue
		}
		if sub.needsInference() {
			lib.addSince(sub, sub.Started)
		}
		if sub.delaysLog() {
			lib.recentSince = s.now.Add(-maxFlushDelay)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(s.homes)) {
		if err := s.homes[dir].load(ctx); err != nil {
			s.errs = append(s.errs, err)
		}
	}
}

func (s *evidence) warn(path string, err error) {
	if err != nil && !fsread.IsNotExist(err) {
		s.errs = append(s.errs, newWarning(path, err))
	}
}

// err is all that could not be read.
func (s *evidence) err() error { return errors.Join(s.errs...) }
