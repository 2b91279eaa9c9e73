package claudecode

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// Claims returns which live processes run which sessions.
//
// Kinds of evidence:
//
//   - "registry" (exact; weak for a version that is not supported): the process's registry entry
//   - "tool-call" (exact): a sub-agent whose result the session waits for
//   - "sub-agent" (exact): a sub-agent that has not ended, by its transcript and metadata
//   - "team" (exact): a sub-agent that is a teammate in the session's team
//   - "team" (strong): the transcript of a teammate, by its names for both
//   - "argv" (strong in print mode, weak for a TUI, which may have changed its session since)
//
// Meta keys: suspended (a signal has stopped the process), backgroundShell (idle, but a command that it started still
// runs), jobId (of a background session).
func (Adapter) Claims(ctx context.Context, table *proc.Table, homes []discover.Home) ([]discover.Claim, error) {
	l := &processScan{ctx: ctx, table: table, homes: homes}
	l.findProcesses()
	var claims []discover.Claim
	for _, x := range l.processes {
		found := l.sessionClaims(x)
		claims = append(append(claims, x.processClaim(found)), found...)
	}
	if table.IsThorough() {
		claims = append(claims, l.leftBehind()...)
	}
	return claims, errors.Join(append(l.warnings, ctx.Err())...)
}

// sessionClaims returns the claims about the sessions that a process runs. Without a registry entry, the process has not registered
// yet (a dialog is open), never does (a teammate, a TUI inside of another session), or its entry is out of sight.
func (l *processScan) sessionClaims(x *process) []discover.Claim {
	switch {
	case x.registered():
		c := l.registryClaim(x)
		if x.outdated {
			c.Strength = discover.Weak // it may have changed its session since
			return []discover.Claim{c}
		}
		return l.withSubagents(x, c)
	case x.unreadable != "", x.otherRoot != "": // in another root directory, a session may have the ID of one of ours
		return nil
	case x.cmdline.isTeammate():
		return l.teammateClaim(x)
	}
	id := x.cmdline.namedSession()
	if id == "" {
		return nil
	}
	strength := discover.Weak
	if x.cmdline.print {
		strength = discover.Strong
	}
	return []discover.Claim{l.sessionClaim(x, id, findTranscript(l.ctx, x.home, x.dir, id), strength, "argv", "the command line names the session")}
}

// withSubagents returns a claim, followed by those for the sub-agents of its session.
func (l *processScan) withSubagents(x *process, c discover.Claim) []discover.Claim {
	children, err := x.subagentClaims(l.ctx, c)
	l.warnings = append(l.warnings, err)
	return append([]discover.Claim{c}, children...)
}

// registryClaim returns the claim that the process's registry entry makes.
func (l *processScan) registryClaim(x *process) discover.Claim {
	detail := x.entry.path + ": " + x.proof
	if x.entry.Status != "" {
		detail += ", status " + x.entry.Status
	}
	id := x.entry.SessionID
	return l.sessionClaim(x, id, findTranscript(l.ctx, x.home, x.entry.Cwd, id), discover.Exact, "registry", detail)
}

// leftBehind returns claims by the registry entries of processes that were killed.
func (l *processScan) leftBehind() (claims []discover.Claim) {
	for _, r := range l.registries {
		for pid := range r.entries {
			e, err := readRegistryEntry(l.ctx, r.home, pid)
			used := func(x *process) bool { return x.entry.path == e.path }
			if err != nil || slices.ContainsFunc(l.processes, used) || e.Spare || e.ParkedJobID != "" {
				continue
			}
			if p, ok := l.table.ByPID(pid); ok && p.Alive() {
				if _, err := e.validate(p, pid); err == nil {
					continue
				}
			}
			claims = append(claims, discover.Claim{
				Agent: agentName, Process: proc.ID{PID: pid}, Session: e.SessionID, Path: findTranscript(l.ctx, r.home, e.Cwd, e.SessionID), Home: r.home,
				Source: (&process{entry: e}).source(), Strength: discover.Exact, Kind: "registry", Detail: e.path + ": its process was killed", LeftBehind: true,
			})
		}
	}
	return claims
}

// sessionClaim returns the claim that the process runs this session, with this evidence.
func (l *processScan) sessionClaim(x *process, id, path string, strength discover.Strength, kind, detail string) discover.Claim {
	c := x.newClaim()
	c.Session, c.Path, c.Strength, c.Kind, c.Detail = id, path, strength, kind, detail
	c.Turn = x.liveTurn(l.ctx, path)
	return c
}

// A session can lead a team of agents (CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS). A teammate is a process in a pane of tmux, whose command
// line names its team and the session that leads it, and which does not register; or it is a sub-agent that stays when its turn has
// ended, until it is sent away or the process of the session ends (SEEN 2.1.332).

// team is what the file of a team says, teams/<name>/config.json. It is removed when the process that leads the team ends by itself.
// The name has the beginning of the ID of the first session of that process.
type team struct {
	LeadSession string `json:"leadSessionId"`
	LeadProcess struct {
		PID       int    `json:"pid"`
		ProcStart string `json:"procStart"`
	} `json:"leadProcess"`
	Members []teammate `json:"members"`
}

// teammate is what the file says of one. The session that leads the team is among them.
type teammate struct {
	Name    string `json:"name"`
	Backend string `json:"backendType"` // in-process, tmux
}

const (
	teamsName  = "teams"
	teamConfig = "config.json"
	teamPrefix = "session-" // of the name
	// teamsLimit bounds the teams that are read in search of one. Those of killed processes stay.
	teamsLimit = 100
	// teamKind is the kind of the evidence that a team gives.
	teamKind = "team"
	// taskInProcess is the kind of sub-agent that is a teammate.
	taskInProcess = "in_process_teammate"
	// inProcess is the backend of such a teammate.
	inProcess = "in-process"
)

// readTeam returns the team that the process leads; nil if it leads none. What cannot be read is left out.
func (x *process) readTeam(ctx context.Context) *team {
	dir := filepath.Join(x.home, teamsName)
	read := func(name string) *team {
		var t team
		if readJSON(ctx, filepath.Join(dir, name, teamConfig), &t) != nil || !t.isLedBy(x) {
			return nil
		}
		return &t
	}
	if t := read(teamPrefix + jobIDOf(x.entry.SessionID)); t != nil {
		return t
	}
	folders, _ := readDir(ctx, dir) // the process has changed its session since it started
	for _, n := range folders[:min(len(folders), teamsLimit)] {
		if t := read(n.Name()); t != nil {
			return t
		}
	}
	return nil
}

func (t *team) isLedBy(x *process) bool {
	if t.LeadProcess.PID == 0 {
		return t.LeadSession == x.entry.SessionID
	}
	return t.LeadProcess.PID == x.NamespacePID() && t.LeadProcess.ProcStart == x.entry.ProcStart
}

// hasInProcess reports whether a sub-agent is a teammate now.
func (t *team) hasInProcess(name string) bool {
	return t != nil && slices.ContainsFunc(t.Members, func(m teammate) bool { return m.Name == name && m.Backend == inProcess })
}

// hasTerminals reports whether teammates have terminals of their own.
func (t *team) hasTerminals() bool {
	return t != nil && slices.ContainsFunc(t.Members, func(m teammate) bool { return m.Backend != inProcess })
}

// newestTeammate returns the transcript that was written last by the teammate with the name of m: another one of that name may have
// left before.
func newestTeammate(all []storedSubagent, m storedSubagent) (path string) {
	for _, b := range all {
		if b.isTeammate() && b.TeamName == m.TeamName && b.Name == m.Name && (path == "" || modTime(b.path).After(modTime(path))) {
			path = b.path
		}
	}
	return path
}

// teammateClaim returns the claim that a teammate with a process of its own runs a session: the transcript of its directory
// whose records name the team and the teammate, and which was written last since the process started. There is none before its first
// turn.
func (l *processScan) teammateClaim(x *process) []discover.Claim {
	if x.home == "" || x.dir == "" {
		return nil
	}
	s := newSearch(l.ctx, discover.EntryFilter{}, x.home)
	s.list(filepath.Dir(transcriptPath(x.home, x.dir, "")))
	l.warnings = append(l.warnings, s.Warnings...)
	slices.SortFunc(s.Found, func(a, b discover.Entry) int { return b.Updated.Compare(a.Updated) })
	for _, t := range s.Found {
		if !x.StartedBefore(t.Updated) {
			break
		}
		head, err := readHead(l.ctx, t.Path)
		if err == nil && head.First.Team == x.cmdline.team && head.First.Teammate == x.cmdline.teammate {
			detail := "its records are those of " + x.cmdline.teammate + " of the team " + x.cmdline.team
			return l.withSubagents(x, l.sessionClaim(x, t.ID, t.Path, discover.Strong, teamKind, detail))
		}
	}
	return nil
}
