package claudecode

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/discover/storage"
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
// Meta keys: backgroundShell (idle, but a command that it started still runs), jobId (of a background session).
func (Adapter) Claims(ctx context.Context, table *proc.Table, homes []discover.Home) ([]discover.Claim, error) {
	l := &processScan{ctx: ctx, table: table, homes: homes}
	var claims []discover.Claim
	for _, agent := range l.findProcesses() {
		found := l.sessionClaims(agent)
		claims = append(append(claims, agent.processClaim(found)), found...)
	}
	return claims, errors.Join(append(l.warnings, ctx.Err())...)
}

// sessionClaims returns the claims about the sessions that a process runs. Without a registry entry, the process has not registered
// yet (a dialog is open), never does (a teammate, a TUI inside of another session), or its entry is out of sight.
func (p *processScan) sessionClaims(agent *process) []discover.Claim {
	switch {
	case agent.registered():
		c := p.registryClaim(agent)
		if agent.outdated {
			c.Strength = discover.Weak // it may have changed its session since
			return []discover.Claim{c}
		}
		return p.withSubagents(agent, c)
	case agent.unreadable != "", agent.otherRoot != "": // in another root directory, a session may have the ID of one of ours
		return nil
	case agent.cmdline.isTeammate():
		return p.teammateClaim(agent)
	}
	id := agent.cmdline.namedSession()
	if id == "" {
		return nil
	}
	strength := discover.Weak
	if agent.cmdline.print {
		strength = discover.Strong
	}
	return []discover.Claim{p.sessionClaim(agent, id, findTranscript(p.ctx, agent.home, agent.dir, id), strength, "argv", "the command line names the session")}
}

// withSubagents returns a claim, followed by those for the sub-agents of its session.
func (p *processScan) withSubagents(agent *process, c discover.Claim) []discover.Claim {
	children, err := agent.subagentClaims(p.ctx, c)
	p.warnings = append(p.warnings, err)
	return append([]discover.Claim{c}, children...)
}

func (p *processScan) registryClaim(agent *process) discover.Claim {
	detail := agent.entry.path + ": procStart " + agent.entry.ProcStart + " matches"
	if agent.entry.Status != "" {
		detail += ", status " + agent.entry.Status
	}
	id := agent.entry.SessionID
	return p.sessionClaim(agent, id, findTranscript(p.ctx, agent.home, agent.entry.Cwd, id), discover.Exact, "registry", detail)
}

// ClaimsOf implements [discover.Adapter], by the registry entries of processes that were killed.
func (Adapter) ClaimsOf(ctx context.Context, table *proc.Table, homes []discover.Home, ids map[string]bool) (claims []discover.Claim) {
	for _, h := range homes {
		r, _ := listRegistry(ctx, h.Dir)
		for pid := range r.entries {
			entry, err := readRegistryEntry(ctx, r.home, pid)
			if err != nil || !ids[entry.SessionID] || entry.Spare || entry.ParkedJobID != "" {
				continue
			}
			if live, ok := table.ByPID(pid); ok && live.Alive() && entry.validate(live, pid) == nil {
				continue
			}
			claims = append(claims, discover.Claim{
				Agent: agentName, Process: proc.ID{PID: pid}, Session: entry.SessionID, Path: findTranscript(ctx, r.home, entry.Cwd, entry.SessionID), Home: r.home,
				Source: (&process{entry: entry}).source(), Strength: discover.Exact, Kind: "registry", Detail: entry.path + ": its process was killed", LeftBehind: true,
			})
		}
	}
	return claims
}

func (p *processScan) sessionClaim(agent *process, id, path string, strength discover.Strength, kind, detail string) discover.Claim {
	c := agent.newClaim()
	c.Session, c.Path, c.Strength, c.Kind, c.Detail = id, path, strength, kind, detail
	c.Turn = agent.liveTurn(p.ctx, path)
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
func (p *process) readTeam(ctx context.Context) *team {
	dir := filepath.Join(p.home, teamsName)
	read := func(name string) *team {
		var t team
		if readJSON(ctx, filepath.Join(dir, name, teamConfig), &t) != nil || !t.isLedBy(p) {
			return nil
		}
		return &t
	}
	if t := read(teamPrefix + jobIDOf(p.entry.SessionID)); t != nil {
		return t
	}
	folders, _ := storage.ReadDir(ctx, dir) // the process has changed its session since it started
	for _, n := range folders[:min(len(folders), teamsLimit)] {
		if t := read(n.Name()); t != nil {
			return t
		}
	}
	return nil
}

func (t *team) isLedBy(agent *process) bool {
	if t.LeadProcess.PID == 0 {
		return t.LeadSession == agent.entry.SessionID
	}
	return t.LeadProcess.PID == agent.NamespacePID() && t.LeadProcess.ProcStart == agent.entry.ProcStart
}

// hasInProcess reports whether a sub-agent is a teammate now.
func (t *team) hasInProcess(name string) bool {
	return t != nil && slices.ContainsFunc(t.Members, func(mate teammate) bool { return mate.Name == name && mate.Backend == inProcess })
}

// hasTerminals reports whether teammates have terminals of their own.
func (t *team) hasTerminals() bool {
	return t != nil && slices.ContainsFunc(t.Members, func(mate teammate) bool { return mate.Backend != inProcess })
}

// newestTeammate returns the transcript that was written last by the teammate with the name of m: another one of that name may have
// left before.
func newestTeammate(all []storedSubagent, m storedSubagent) (path string) {
	for _, subagent := range all {
		if subagent.isTeammate() && subagent.TeamName == m.TeamName && subagent.Name == m.Name && (path == "" || modTime(subagent.path).After(modTime(path))) {
			path = subagent.path
		}
	}
	return path
}

// teammateClaim returns the claim that a teammate with a process of its own runs a session: the transcript of its directory
// whose records name the team and the teammate, and which was written last since the process started. There is none before its first
// turn.
func (p *processScan) teammateClaim(agent *process) []discover.Claim {
	if agent.home == "" || agent.dir == "" {
		return nil
	}
	s := newSearch(p.ctx, discover.EntryFilter{}, agent.home)
	s.list(filepath.Dir(transcriptPath(agent.home, agent.dir, "")))
	p.warnings = append(p.warnings, s.Warnings...)
	slices.SortFunc(s.Found, func(a, b discover.Entry) int { return b.Updated.Compare(a.Updated) })
	for _, t := range s.Found {
		if !agent.StartedBefore(t.Updated) {
			break
		}
		head, err := readHead(p.ctx, t.Path)
		if err == nil && head.First.Team == agent.cmdline.team && head.First.Teammate == agent.cmdline.teammate {
			detail := "its records are those of " + agent.cmdline.teammate + " of the team " + agent.cmdline.team
			return p.withSubagents(agent, p.sessionClaim(agent, t.ID, t.Path, discover.Strong, teamKind, detail))
		}
	}
	return nil
}
