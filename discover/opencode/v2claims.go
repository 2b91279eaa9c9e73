package opencode

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// A server of OpenCode 2 runs the turns of all its sessions; terminals and headless runs are its clients. The usual server is a background
// service, one for each user, which registers in a file. Which turns are in progress is in the database, and which server runs them is only
// in its memory: with one server that may run a turn, it is that one. No server is asked, and no command of the agent is run: its commands
// start the service, and the service goes on with turns that were cut off.

// v2Server is a server of OpenCode 2.
type v2Server struct {
	*loggedProcess
	service *service // nil for a server of one client, and one in the foreground
	base    discover.Claim
	// started are the sessions whose tools have live processes. unreadable: of a child process it is not known.
	started    map[string]bool
	unreadable bool
}

// sessionKey is set in the environment of the shell commands of OpenCode 2: the session's ID (READ 2.0.26).
const sessionKey = "OPENCODE_SESSION_ID"

func (scan *processScan) newV2Server(p *loggedProcess) *v2Server {
	s := &v2Server{loggedProcess: p, service: scan.registered(p), base: p.claim(), started: map[string]bool{}}
	s.base.Shared, s.base.Meta = true, p.meta()
	if s.service != nil {
		s.base.Version = s.service.version
	}
	for child := range scan.table.Children(p.ID.PID) {
		if !child.Alive() {
			continue
		}
		env, err := child.Env(sessionKey)
		if id := env[sessionKey]; isSessionID(id) {
			s.started[id] = true
		}
		s.unreadable = s.unreadable || err != nil
	}
	return s
}

// v2Claims returns the claims of the processes of OpenCode 2, and of those whose generation is not known.
func (scan *processScan) v2Claims() (claims []discover.Claim) {
	servers := map[*homeSessions][]*v2Server{}
	var clients []v2Client
	for _, p := range scan.v2 {
		if p.mode == modeServer {
			s := scan.newV2Server(p)
			servers[p.stored] = append(servers[p.stored], s)
			presence := p.presence(s.base, true)
			presence.Dir = "" // its sessions run in any directory
			presence.HideIfUnlinked, presence.NameOnly = true, presence.NameOnly && s.service == nil
			claims = append(claims, presence)
			continue
		}
		c := v2Client{p}
		clients, claims = append(clients, c), append(claims, c.presence())
	}
	for _, h := range slices.SortedFunc(maps.Keys(servers), func(a, b *homeSessions) int { return strings.Compare(a.dir, b.dir) }) {
		claims = append(claims, scan.v2HomeClaims(h, servers[h], clients)...)
	}
	for _, p := range scan.unknown {
		p.unsupported = "it is OpenCode 1 or 2, and nothing tells which: no package.json beside its program, and no line of it in the log"
		claims = append(claims, p.presence(p.claim(), true))
	}
	return claims
}

// v2HomeClaims returns the claims for the sessions of a home.
func (scan *processScan) v2HomeClaims(h *homeSessions, servers []*v2Server, clients []v2Client) (claims []discover.Claim) {
	for _, home := range h.homes {
		databases, _ := listDatabases(scan.ctx, home) // Entries reports what cannot be read
		for _, path := range databases {
			// A server whose open files cannot be read may have any database of its home open.
			own := slices.DeleteFunc(slices.Clone(servers), func(s *v2Server) bool { return len(s.databases()) > 0 && !s.opens(path) })
			if len(own) == 0 {
				continue
			}
			sessions, err := readDatabase(scan.ctx, h.dir, path, func(d *database) []*session {
				ids := d.claimedSessions()
				for _, c := range clients {
					ids = append(ids, c.names()...)
				}
				if d.v2.messages == nil {
					return nil
				}
				return slices.Collect(d.sessionsIn(d.sessionTables[0], ids, discover.ReadOptions{}))
			})
			scan.warnings = append(scan.warnings, err)
			for _, s := range sessions {
				claims = append(claims, scan.v2SessionClaims(s, sessions, own, clients)...)
			}
		}
	}
	return claims
}

// v2SessionClaims returns the claims for one session, of all servers that may run it and clients that show it.
func (scan *processScan) v2SessionClaims(s *session, all []*session, servers []*v2Server, clients []v2Client) (claims []discover.Claim) {
	for _, server := range servers {
		if c, ok := scan.turnClaim(server, s, all); ok {
			claims = append(claims, c)
		}
	}
	inTurn := len(claims) > 0
	for _, c := range clients {
		server := c.server(servers)
		if server == nil || !c.mayShow(s, inTurn) {
			continue
		}
		if !slices.ContainsFunc(claims, func(of discover.Claim) bool { return !of.Client }) {
			claims = append(claims, server.shownClaim(s, c))
		}
		claims = append(claims, c.claim(s, server))
	}
	return claims
}

// turnClaim returns the claim that a server runs the turn of a session that is recorded as being in progress; ok is false if it does not.
func (scan *processScan) turnClaim(server *v2Server, s *session, all []*session) (c discover.Claim, ok bool) {
	v := s.v2
	if v.claimed.IsZero() || s.Turn.Ended() {
		return c, false
	}
	c = server.base
	c.Session, c.Path, c.Kind = s.ID, s.Path, "turn-claim"
	turn, strength := scan.liveV2Turn(server, s, all)
	c.Turn, c.Strength = &turn, strength
	c.Additional = strength == discover.Weak // it says nothing against its other sessions
	since := v.claimed.Format(time.RFC3339Nano)
	switch {
	case server.started[s.ID]:
		c.Strength, c.Kind, c.Additional = discover.Exact, "tool", false
		c.Detail = "a tool that it has started has " + sessionKey + "=" + s.ID
		return c, true
	case server.StartedBefore(v.claimed):
		c.Detail = "the turn began at " + since + ", while it ran"
	case server.StartedBefore(v.worked):
		c.Detail = "it ran when the turn was last written, at " + v.worked.Format(time.RFC3339Nano)
	case server.service == nil:
		return c, false // only a service goes on with the turn of another server
	case s.Parent == "" && v.attempts > 0:
		c.Detail = fmt.Sprintf("it has taken up the turn of %s, in attempt %d", since, v.attempts)
	default:
		c.Detail = "the turn began at " + since + ", before it started"
		c.Alternative = "it has not taken the turn up, so that another server may run it"
	}
	if v.workspace != "" {
		c.Alternative = "it runs in the remote workspace " + v.workspace
	}
	return c, true
}

// toolStart is how long a shell command may take from its recorded start to its process.
const toolStart = time.Second

// liveV2Turn returns the turn in progress, and how sure that is. That a call waits for permission is only in the memory of the server. A question
// always waits for the user. A shell command without a process does, too. Of other calls it is not known whether they work or wait: the turn
// is running, by weak evidence.
func (scan *processScan) liveV2Turn(server *v2Server, s *session, all []*session) (discover.Turn, discover.Strength) {
	turn, strength := s.Turn, discover.Strong
	for _, call := range s.tail.RunningTools() {
		switch call.Tool {
		case questionTool:
		case "subagent":
			for _, child := range all {
				if child.Parent != s.ID || child.v2.claimed.IsZero() || child == s {
					continue
				}
				if t, sure := scan.liveV2Turn(server, child, nil); t.State == discover.TurnWaiting {
					t.Began = turn.Began
					return t, sure
				}
			}
		case shellType:
			switch {
			case server.started[s.ID]:
			case server.unreadable || server.unreadableFiles() || scan.now.Sub(fromMillis(call.Started)) < toolStart:
				strength = discover.Weak
			default:
				return discover.Turn{
					State: discover.TurnWaiting, WaitingFor: "permission", WaitingOn: call.WaitingOn(), OpenCall: call.WaitingOn(),
					Detail: "tool: " + call.Tool, Began: turn.Began,
				}, discover.Strong
			}
		default:
			strength = discover.Weak
		}
	}
	return turn, strength
}

// unreadableFiles reports whether a shell command of the server may run without a child: it has the output of one open, or what it has open cannot
// be read.
func (v *v2Server) unreadableFiles() bool {
	return v.unreadable || len(v.files) == 0 || slices.ContainsFunc(v.files, func(f proc.OpenFile) bool { return isShellOutput(f.Path) })
}

// isShellOutput reports whether a file is the output of a shell command: shell/<project>/sh_….out (READ 2.0.26).
func isShellOutput(path string) bool {
	return strings.HasPrefix(filepath.Base(path), "sh_") && filepath.Ext(path) == ".out"
}

// shownClaim returns the claim that a server holds a session that is in no turn, because a client shows it.
func (v *v2Server) shownClaim(session *session, by v2Client) discover.Claim {
	c := v.base
	c.Session, c.Path, c.Strength, c.Kind = session.ID, session.Path, discover.Strong, "client"
	c.Detail = "its client " + by.ID.String() + " shows the session"
	turn := session.Turn
	if !turn.Ended() && turn.State != discover.TurnNone {
		turn = discover.Turn{State: discover.TurnInterrupted}
	}
	c.Turn = &turn
	return c
}

// v2Client is a terminal or a headless run of OpenCode 2.
type v2Client struct{ *loggedProcess }

// presence returns the claim that a client is the agent's. Its row shows that it lives, if no session is known that it shows.
func (v v2Client) presence() discover.Claim {
	p := v.loggedProcess.presence(v.loggedProcess.claim(), true)
	if v.mode == modeTUI && p.Unreadable == "" {
		p.Unreadable = "it is a terminal of OpenCode 2; only its server knows which session it shows"
	}
	return p
}

// names returns the sessions that the client's arguments or its output name.
func (v v2Client) names() (ids []string) {
	if v.session != "" {
		ids = append(ids, v.session)
	}
	return slices.AppendSeq(ids, maps.Keys(v.sessions))
}

// mayShow reports whether the client may show a session: the one that it names, else one of its directory that has begun a turn since the
// client started.
func (v v2Client) mayShow(s *session, inTurn bool) bool {
	if named := v.names(); len(named) > 0 {
		return slices.Contains(named, s.ID)
	}
	return inTurn && s.Parent == "" && v.dir != "" && discover.RealPath(v.dir) == discover.RealPath(s.Dir) && v.StartedBefore(s.v2.claimed)
}

// claim returns the claim that the client shows a session.
func (v v2Client) claim(s *session, server *v2Server) discover.Claim {
	claim := v.loggedProcess.claim()
	claim.Session, claim.Path, claim.Strength, claim.Kind, claim.Client = s.ID, s.Path, discover.Weak, "client", true
	claim.Detail = "a client of " + server.ID.String() + ", in the session's directory"
	switch {
	case len(v.sessions) > 0:
		claim.Strength, claim.Detail = discover.Exact, v.logDetail
	case v.session != "":
		claim.Detail = "-s " + v.session
		if v.mode == modeRun { // in a terminal, the user may have opened another session since
			claim.Strength = discover.Strong
		}
	}
	return claim
}

// server returns the server of the client; nil if that is not known. A client that was told so, by an option or the configuration, has started one of
// its own.
func (v v2Client) server(servers []*v2Server) *v2Server {
	isOwn := func(s *v2Server) bool { return s.standalone && s.Parent == v.ID.PID }
	standalone := v.standalone || slices.ContainsFunc(servers, isOwn)
	var found []*v2Server
	for _, s := range servers {
		fits := s.service != nil && s.stateDir == v.stateDir
		switch {
		case standalone:
			fits = isOwn(s)
		case v.serverURL != "":
			fits = listensAt(s.Process, v.serverURL)
		}
		if fits {
			found = append(found, s)
		}
	}
	if len(found) != 1 {
		return nil
	}
	return found[0]
}
