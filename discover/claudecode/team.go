package claudecode

import (
	"context"
	"encoding/json"
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/discover/native/fsread"
)

// A session can lead a team of agents (CLAUDE_CODE_EXPERIMENTAL_AGENT_TEAMS). A member is a process in a pane of tmux, whose command
// line names its team and the session that leads it, and which does not register; or it is a sub-agent that stays when its turn has
// ended, until it is sent away or the process of the session ends (SEEN 2.1.332).

// team is what the file of a team says, teams/<name>/config.json. It is removed when the process that leads the team ends by itself.
// The name has the beginning of the ID of the first session of that process.
type team struct {
	Name        string `json:"name"`
	LeadSession string `json:"leadSessionId"`
	LeadProcess struct {
		PID       int    `json:"pid"`
		ProcStart string `json:"procStart"`
	} `json:"leadProcess"`
	Members []teamMember `json:"members"`
}

// teamMember is a member of a team. The session that leads the team is one, too.
type teamMember struct {
	Name    string `json:"name"`
	Backend string `json:"backendType"` // in-process, tmux
}

const (
	teamsName  = "teams"
	teamConfig = "config.json"
	// teamLimit bounds the file, in bytes; a member takes about 300.
	teamLimit = 1 << 20
	// teamsLimit bounds the teams that are read in search of one. Those of killed processes stay.
	teamsLimit = 100
	// teamKind is the kind of the evidence that a team gives.
	teamKind = "team"
	// taskInProcess is the kind of sub-agent that is a member of a team.
	taskInProcess = "in_process_teammate"
	// inProcess is the backend of such a member.
	inProcess = "in-process"
)

// readTeam returns the team that the process leads; nil if it leads none. What cannot be read is left out.
func (x *process) readTeam(ctx context.Context) *team {
	dir := filepath.Join(x.home, teamsName)
	folders, _ := readDir(ctx, dir)
	for _, n := range folders[:min(len(folders), teamsLimit)] {
		raw, err := fsread.ReadComplete(ctx, filepath.Join(dir, n.Name(), teamConfig), teamLimit, json.Valid)
		var t team
		if err == nil && unmarshal(raw, &t) == nil && t.isLedBy(x) {
			return &t
		}
	}
	return nil
}

func (t *team) isLedBy(x *process) bool {
	if t.LeadProcess.PID == 0 {
		return t.LeadSession == x.entry.SessionID
	}
	return t.LeadProcess.PID == namespacePID(x.Process) && t.LeadProcess.ProcStart == x.entry.ProcStart
}

// hasInProcess reports whether a sub-agent is a member of the team now.
func (t *team) hasInProcess(name string) bool {
	return t != nil && slices.ContainsFunc(t.Members, func(m teamMember) bool { return m.Name == name && m.Backend == inProcess })
}

// hasTerminals reports whether members of the team have terminals of their own.
func (t *team) hasTerminals() bool {
	return t != nil && slices.ContainsFunc(t.Members, func(m teamMember) bool { return m.Backend != inProcess })
}

// newestMember returns the transcript that was written last by the member with the name of m: another one of that name may have
// left before.
func newestMember(all []storedSubagent, m storedSubagent) (path string) {
	for _, b := range all {
		if b.isMember() && b.TeamName == m.TeamName && b.Name == m.Name && (path == "" || modTime(b.path).After(modTime(path))) {
			path = b.path
		}
	}
	return path
}

// memberClaim returns the claim that a member of a team with a process of its own runs a session: the transcript of its directory
// whose records name the team and the member, and which was written last since the process started. There is none before its first
// turn.
func (l *processScan) memberClaim(x *process) []discover.Claim {
	found := l.transcriptsOf(x, x.dir)
	slices.SortFunc(found, func(a, b discover.Entry) int { return b.Updated.Compare(a.Updated) })
	for _, t := range found {
		if !x.StartedBefore(t.Updated) {
			break
		}
		head, err := readHead(l.ctx, t.Path)
		if err == nil && head.First.Team == x.cmdline.team && head.First.Member == x.cmdline.member {
			detail := "its records are those of " + x.cmdline.member + " of the team " + x.cmdline.team
			return l.withSubagents(x, l.sessionClaim(x, t.ID, t.Path, discover.Strong, teamKind, detail))
		}
	}
	return nil
}
