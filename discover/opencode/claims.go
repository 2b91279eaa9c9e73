package opencode

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// Claims implements [discover.Adapter]. It returns the presence of each live process, and the sessions that evidence ties to it.
func (Adapter) Claims(ctx context.Context, table *proc.Table, homes []discover.Home) ([]discover.Claim, error) {
	scan := newProcessScan(ctx, table, homes)
	scan.readLogs()
	scan.decideByLog()
	scan.readStdout()
	scan.load(ctx)
	claims := scan.v2Claims()
	for _, p := range scan.processes {
		own := scan.claims(p)
		claims = append(append(claims, own...), scan.clientClaims(p, own)...)
	}
	return claims, errors.Join(scan.warnings...)
}

// claims returns the claims of one process.
func (scan *processScan) claims(p *loggedProcess) []discover.Claim {
	base := p.claim()
	base.Shared, base.Meta, base.Unreadable = p.mode == modeServer, p.meta(), p.unsupported
	claims := scan.namedClaims(p, base)
	prompted := len(p.sessions) > 0 || !p.hasLog && len(claims) > 0
	if unlogged := scan.unloggedClaims(p, base, claims); len(unlogged) > 0 {
		claims, prompted = append(claims, unlogged...), true
	}
	return append([]discover.Claim{p.presence(base, prompted)}, claims...)
}

// claim returns what all claims of the process have.
func (l *loggedProcess) claim() discover.Claim {
	return discover.Claim{Agent: agentName, Process: l.ID, Home: l.home, Source: l.mode}
}

// meta returns the facts about the process. Keys:
//
//   - run: its name in the log
//   - ports: the TCP ports on which it listens
//   - command: the subcommand of a server
func (l *loggedProcess) meta() discover.Facts {
	meta := discover.Facts{"run": l.lastLine.run}
	if ports, err := l.ListenPorts(); err == nil && len(ports) > 0 {
		meta["ports"] = ports
	}
	if l.mode == modeServer {
		meta["command"] = l.name
	}
	return meta.WithoutEmpty()
}

// presence returns the claim that the process is the agent's. Its turn is that of a session which no claim names.
func (l *loggedProcess) presence(base discover.Claim, prompted bool) discover.Claim {
	c := base
	c.Strength, c.Kind, c.Dir = discover.Exact, "process", l.dir
	c.Detail = "runs " + proc.ProgramName(l.Exe) + ", as " + l.mode
	c.Unreadable = cmp.Or(l.unsupported, l.unreadable)
	c.HideIfUnlinked, c.NameOnly = l.mode == modeServer && l.unsupported == "", l.nameOnly()
	switch {
	case c.Unreadable != "":
	case l.mode == modeTUI && l.stored.listed() && !prompted:
		c.Turn = &discover.Turn{State: discover.TurnNone} // it may show a session, but got no prompt
	case l.mode == modeRun: // its turn begins and ends with the process
		c.Turn = &discover.Turn{State: discover.TurnOpen}
	}
	return c
}

// namedClaims returns the claims by the log or the output of a process, else by its arguments. In a terminal interface, the user may have
// opened another session since.
func (scan *processScan) namedClaims(p *loggedProcess, base discover.Claim) (claims []discover.Claim) {
	base.Strength = discover.Exact
	for _, id := range slices.Sorted(maps.Keys(p.sessions)) {
		c := base
		c.Kind, c.Detail = p.logKind, p.logDetail
		claims = scan.addClaim(claims, c, p, id)
	}
	if p.logKind == "output" {
		claims = scan.addSubAgents(claims, p)
	} else { // the log will name them: it is written some hundred milliseconds late
		claims = scan.addChildren(claims, p, func(s *session) bool { return p.StartedBefore(s.Created) && s.isOpen() })
	}
	if len(claims) == 0 && p.mode != modeServer && p.session != "" {
		c := base
		c.Kind, c.Detail = "argv", "-s "+p.session
		if p.mode == modeTUI || p.nameOnly() { // then its arguments are whatever its starter likes
			c.Strength = discover.Strong
		}
		claims = scan.addSubAgents(scan.addClaim(claims, c, p, p.session), p)
	}
	return claims
}

// addClaim completes a claim for a session and adds it. A session that is missing in a store that could be read was deleted. The store of a
// foreign process is not read; if a session of ours has the same ID, it is another one.
func (scan *processScan) addClaim(claims []discover.Claim, c discover.Claim, p *loggedProcess, id string) []discover.Claim {
	s, mayExist := p.stored.sessions[id], p.stored.failed || p.foreign
	for _, home := range scan.homes {
		mayExist = mayExist && (!p.foreign || home.sessions[id] == nil)
	}
	if s == nil && !mayExist {
		return claims
	}
	c.Session = id
	if s == nil {
		c.Dir = p.dir
		return append(claims, c)
	}
	c.Path = s.Path
	if turn := scan.liveTurn(p, s, maxDepth); turn.State != s.Turn.State || turn.Detail != s.Turn.Detail || s.hasCopy {
		c.Turn = &turn
	}
	return append(claims, c)
}

// addSubAgents adds the sub-agents of the claimed sessions, and theirs, that began while the process ran: they run in the same process.
func (scan *processScan) addSubAgents(claims []discover.Claim, p *loggedProcess) []discover.Claim {
	return scan.addChildren(claims, p, func(s *session) bool { return p.StartedBefore(s.Created) })
}

// addChildren adds the sub-agents of the claimed sessions, and theirs, that fit.
func (scan *processScan) addChildren(claims []discover.Claim, p *loggedProcess, fits func(*session) bool) []discover.Claim {
	for i := 0; i < len(claims); i++ {
		for _, s := range p.stored.children(claims[i].Session) {
			if !isClaimed(claims, s.ID) && fits(s) {
				c := claims[i]
				c.Turn, c.Kind, c.Detail = nil, "parent", "sub-agent of "+c.Session
				claims = scan.addClaim(claims, c, p, s.ID)
			}
		}
	}
	return claims
}

func isClaimed(claims []discover.Claim, id string) bool {
	return slices.ContainsFunc(claims, func(c discover.Claim) bool { return c.Session == id })
}

// processScan is one reading of the agent's live processes, with what storage and the logs have about them.
type processScan struct {
	ctx       context.Context // a scan lives as long as one call
	table     *proc.Table
	now       time.Time
	processes []*loggedProcess // of OpenCode 1
	clients   []process
	v2        []*loggedProcess         // of OpenCode 2
	unknown   []*loggedProcess         // of one of both
	homes     map[string]*homeSessions // by directory
	services  map[string][]service     // the registrations that were read, by folder
	warnings  []error                  // nil for what could be read
}

// loggedProcess is a process with what its log says.
type loggedProcess struct {
	process
	home   string        // its data folder, as a Home names it
	stored *homeSessions // the sessions in its home; none if no Home has that folder
	// hasLog: the log can be read for this process. If it names no session, the process got no prompt.
	hasLog             bool
	lastLine           logLine // of the process in the shared log, with its run; zero if it has written none
	logKind, logDetail string  // of claims by the log
	sessions           map[string]logEvent
	// history is what the shared log says of all sessions. writesSharedLog: the process writes a shared log that can be read.
	history         logHistory
	writesSharedLog bool
}

func newProcessScan(ctx context.Context, table *proc.Table, homes []discover.Home) *processScan {
	scan := &processScan{ctx: ctx, table: table, now: time.Now(), homes: map[string]*homeSessions{}, services: map[string][]service{}}
	for _, h := range homes {
		if scan.homes[h.Dir] == nil {
			scan.homes[h.Dir] = &homeSessions{dir: h.Dir}
		}
		scan.homes[h.Dir].homes = append(scan.homes[h.Dir].homes, h)
	}
	run, clients := processes(ctx, table, homes)
	scan.clients = clients
	for _, found := range run {
		p := &loggedProcess{process: found, home: found.dataDir, sessions: map[string]logEvent{}}
		if !p.foreign { // a home may have it under another name
			p.home = cmp.Or(discover.ListedHome(p.home, homes), p.home)
		}
		if p.stored = scan.homes[p.home]; p.stored == nil {
			p.stored = &homeSessions{dir: p.home, failed: true}
		}
		scan.processes = append(scan.processes, p)
	}
	scan.decideGenerations()
	return scan
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
		since, home := scan.unloggedSince(p), p.stored
		if !since.IsZero() && (home.recentSince.IsZero() || since.Before(home.recentSince)) {
			home.recentSince = since
		}
		p.stored.legacy = p.stored.legacy || p.unsupported != ""
	}
	for _, dir := range slices.Sorted(maps.Keys(scan.homes)) {
		scan.warnings = append(scan.warnings, scan.homes[dir].load(ctx))
	}
	for _, p := range scan.processes {
		p.stored = p.stored.openedBy(p)
	}
}

func (scan *processScan) warn(path string, err error) {
	scan.warnings = append(scan.warnings, newWarning(path, err))
}

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
	if d.messageTable == nil {
		return nil // OpenCode 1 runs none
	}
	table, ids := d.sessionTables[len(d.sessionTables)-1], slices.Clone(h.ids)
	if !h.recentSince.IsZero() {
		ids = append(ids, d.idsSince(h.recentSince)...)
	}
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
	if len(h.databases) < 2 || !slices.ContainsFunc(h.databases, p.opens) {
		return h
	}
	own := *h
	own.sessions = byID(slices.DeleteFunc(slices.Clone(h.loaded), func(s *session) bool { return !p.opens(s.Path) }))
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
