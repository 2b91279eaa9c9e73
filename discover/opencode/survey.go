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

// survey is one look at the live processes of the agent.
type survey struct {
	ctx      context.Context // a survey lives as long as one call
	table    *proc.Table
	now      time.Time
	subjects []*subject
	homes    map[string]*library // by the folder's name in Home
	errs     []error
}

// subject is a process and what its log tells of it.
type subject struct {
	process
	home string // its data folder as a Home names it
	// logged: the log can be read for this process. If it names no session then, none was prompted in it.
	logged       bool
	run          string // its name in the log
	kind, detail string // of the evidence in the log
	sessions     map[string]mention
	// history is what the shared log says of late of all sessions; sharedLog: the process writes into one that can be read.
	history   logHistory
	sharedLog bool
	// flushed is when the process logged the last line that it has written; zero where it has written none.
	flushed time.Time
}

// othersMade reports whether the log says that another process made the session.
func (sub *subject) othersMade(id string) bool {
	run, ok := sub.history.made[id]
	return ok && run != sub.run
}

func newSurvey(ctx context.Context, table *proc.Table, homes []discover.Home) *survey {
	s := &survey{ctx: ctx, table: table, now: time.Now(), homes: map[string]*library{}}
	real := map[string]string{}
	for _, h := range homes {
		if s.homes[h.Dir] == nil {
			s.homes[h.Dir] = newLibrary(h.Dir)
		}
		s.homes[h.Dir].homes = append(s.homes[h.Dir].homes, h)
		real[discover.RealPath(h.Dir)] = h.Dir
	}
	for _, p := range processes(table) {
		sub := &subject{process: p, home: p.data}
		if s.homes[p.data] == nil && !p.foreign { // it may be known by another name
			sub.home = cmp.Or(real[discover.RealPath(p.data)], p.data)
		}
		s.subjects = append(s.subjects, sub)
	}
	return s
}

// opened is a log as one process has it open.
type opened struct {
	sub     *subject
	file    proc.OpenFile
	run     string
	flushed time.Time
}

// readLogs finds in the logs which sessions each process has worked on.
func (s *survey) readLogs() {
	shared := map[string][]opened{}
	for _, sub := range s.subjects {
		if s.homes[sub.home] == nil {
			continue // nothing of a home is opened that is not listed
		}
		s.readOwnLogs(sub)
		for _, f := range sub.files {
			if !isLog(f.Path) || !isSharedLog(f.Path) || f.Offset == 0 && !sub.silent(f.Path) {
				continue
			}
			key := f.Path
			if f.Deleted || f.PathDiffers {
				key = f.Proc
			}
			shared[key] = append(shared[key], opened{sub: sub, file: f})
		}
	}
	for _, key := range slices.Sorted(maps.Keys(shared)) {
		s.warn(shared[key][0].file.Path, s.readSharedLog(shared[key]))
	}
}

// silent reports whether the process has written nothing into the log so far: which run the log names for a session
// tells which are not its own. A terminal's process opens the log twice, and writes by one of the two.
func (sub *subject) silent(log string) bool {
	return !slices.ContainsFunc(sub.files, func(f proc.OpenFile) bool { return f.Path == log && f.Offset > 0 })
}

// readSharedLog reads one log for all processes that write it. The log is opened after the offsets were read: what
// they point at is in it.
func (s *survey) readSharedLog(list []opened) error {
	log, err := openLog(s.ctx, list[0].sub.home, list[0].file)
	if err != nil {
		return err
	}
	defer log.Close()
	runs := map[string]time.Time{}
	for i := range list {
		o := &list[i]
		if o.run, o.flushed, err = runOf(log, o.file.Offset); err != nil { // "" of one that is silent
			return err
		}
		if old, ok := runs[o.run]; !ok || o.sub.Started.Before(old) {
			runs[o.run] = o.sub.Started
		}
	}
	said, history, err := mentions(log, runs)
	if err != nil {
		return err
	}
	for _, o := range list {
		o.sub.history, o.sub.sharedLog = history, true
		if o.run == "" {
			continue
		}
		o.sub.logged, o.sub.run, o.sub.flushed, o.sub.kind = true, o.run, o.flushed, "log-offset"
		o.sub.detail = fmt.Sprintf("wrote %s up to byte %d as run=%s, which names the session", o.file.Path, o.file.Offset, o.run)
		o.sub.mention(said[o.run])
	}
	return nil
}

// readOwnLogs reads the logs of a process before 1.17. They count together or not at all: one that another process writes
// too leaves open what this one did.
func (s *survey) readOwnLogs(sub *subject) {
	var found ownLogs
	seen, where := map[string]bool{}, ""
	for _, f := range sub.files {
		if !isLog(f.Path) || isSharedLog(f.Path) || seen[f.Path] {
			continue
		}
		seen[f.Path] = true
		named, err := s.readOwnLog(&found, sub, f)
		if s.warn(f.Path, err); err != nil || s.sharesLog(sub, f) {
			return
		}
		if named || where == "" {
			where = f.Path
		}
	}
	if !found.own() {
		return
	}
	sub.logged, sub.kind = true, "log-file"
	sub.detail = where + " is written by this process alone and names the session"
	for _, id := range found.sessions {
		sub.mention(map[string]mention{id: {}})
	}
}

func (s *survey) readOwnLog(found *ownLogs, sub *subject, f proc.OpenFile) (named bool, err error) {
	log, err := openLog(s.ctx, sub.home, f)
	if err != nil {
		return false, err
	}
	defer log.Close()
	return found.read(log, sub.args)
}

func (s *survey) sharesLog(sub *subject, f proc.OpenFile) bool {
	return slices.ContainsFunc(s.subjects, func(o *subject) bool {
		return o != sub && slices.ContainsFunc(o.files, func(g proc.OpenFile) bool { return g.Path == f.Path && g.PathDiffers == f.PathDiffers })
	})
}

func (sub *subject) mention(sessions map[string]mention) {
	if sub.sessions == nil {
		sub.sessions = map[string]mention{}
	}
	maps.Copy(sub.sessions, sessions)
}

// guessing reports whether the process may run a session of any age that its log does not name: the log is turned down, or
// is of a time when it could be shared.
func (sub *subject) guessing() bool {
	return len(sub.sessions) == 0 && (sub.mode == modeRun || sub.mode == modeTUI && !sub.logged)
}

// load reads the sessions that the evidence names or may name.
func (s *survey) load(ctx context.Context) {
	for _, sub := range s.subjects {
		lib, ok := s.homes[sub.home]
		for _, asked := range s.homes {
			if asked != lib && !sub.foreign {
				continue // a foreign one's session may be called as one of any home
			}
			for id := range sub.sessions {
				asked.want(id)
			}
			asked.want(sub.session)
		}
		if !ok {
			continue
		}
		if sub.guessing() {
			lib.since(sub, sub.Started)
		}
		if sub.logsLate() {
			lib.latest = s.now.Add(-flushLate)
		}
	}
	for _, dir := range slices.Sorted(maps.Keys(s.homes)) {
		if err := s.homes[dir].load(ctx); err != nil {
			s.errs = append(s.errs, err)
		}
	}
}

func (s *survey) warn(path string, err error) {
	if err != nil && !fsread.IsNotExist(err) {
		s.errs = append(s.errs, warn(path, err))
	}
}

// err is all that could not be read.
func (s *survey) err() error { return errors.Join(s.errs...) }
