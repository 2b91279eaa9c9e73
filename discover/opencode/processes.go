package opencode

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// processScan is one reading of the agent's live processes, with what storage and the logs have about them.
type processScan struct {
	ctx       context.Context // a scan lives as long as one call
	table     *proc.Table
	now       time.Time
	processes []*loggedProcess
	clients   []process
	homes     map[string]*homeSessions // by directory
	warnings  []error                  // nil for what could be read
}

// loggedProcess is a process with what its log says.
type loggedProcess struct {
	process
	home   string        // its data folder, as a Home names it
	stored *homeSessions // the sessions in its home; none if no Home has that folder
	// hasLog: the log can be read for this process. If it names no session, the process got no prompt.
	hasLog             bool
	run                string // its name in the log
	logKind, logDetail string // of claims by the log
	sessions           map[string]logEvent
	// history is what the shared log says of all sessions. writesSharedLog: the process writes a shared log that can be read.
	history         logHistory
	writesSharedLog bool
	// lastFlush is the time of the last line that the process has written; zero if it has written none.
	lastFlush time.Time
}

func newProcessScan(ctx context.Context, table *proc.Table, homes []discover.Home) *processScan {
	scan := &processScan{ctx: ctx, table: table, now: time.Now(), homes: map[string]*homeSessions{}}
	names := map[string]string{} // of the homes, by real path
	for _, h := range homes {
		if scan.homes[h.Dir] == nil {
			scan.homes[h.Dir] = newHomeSessions(h.Dir)
		}
		scan.homes[h.Dir].homes = append(scan.homes[h.Dir].homes, h)
		names[discover.RealPath(h.Dir)] = h.Dir
	}
	run, clients := processes(ctx, table, homes)
	scan.clients = clients
	for _, found := range run {
		p := &loggedProcess{process: found, home: found.dataDir}
		if scan.homes[p.home] == nil && !p.foreign { // a home may have it under another name
			p.home = cmp.Or(names[discover.RealPath(p.home)], p.home)
		}
		if p.stored = scan.homes[p.home]; p.stored == nil {
			p.stored = newHomeSessions(p.home)
			p.stored.failed = true
		}
		scan.processes = append(scan.processes, p)
	}
	return scan
}

func (p *loggedProcess) addSessions(sessions map[string]logEvent) {
	if p.sessions == nil {
		p.sessions = map[string]logEvent{}
	}
	maps.Copy(p.sessions, sessions)
}

// load reads the sessions that the evidence names, and those that the processes may run.
func (scan *processScan) load(ctx context.Context) {
	for _, p := range scan.processes {
		for _, home := range scan.homes {
			if home != p.stored && !p.foreign {
				continue // the session of a foreign process may have the ID of one in any home
			}
			for id := range p.sessions {
				home.addID(id)
			}
			home.addID(p.session)
		}
		if !p.stored.listed() {
			continue
		}
		if since := scan.unloggedSince(p); !since.IsZero() {
			p.stored.addRecent(since)
		}
		p.stored.legacy = p.stored.legacy || p.isOutdated()
	}
	for _, dir := range slices.Sorted(maps.Keys(scan.homes)) {
		scan.warnings = append(scan.warnings, scan.homes[dir].load(ctx))
	}
	for _, p := range scan.processes {
		p.stored = p.stored.openedBy(p)
	}
}

func (scan *processScan) warn(path string, err error) {
	scan.warnings = append(scan.warnings, warningUnlessGone(path, err))
}

// err returns all warnings.
func (scan *processScan) err() error { return errors.Join(scan.warnings...) }
