package discover

import (
	"cmp"
	"errors"
	"io/fs"
	"os"

	"agentctl/proc"
)

// ProcessesHidden reports whether processes are out of sight, so that stopped sessions cannot be told from live ones.
func (scan *Scan) ProcessesHidden() bool { return scan.hidden() != "" }

// hidden says why processes are out of sight; "" if they are not.
func (scan *Scan) hidden() string {
	switch {
	case scan.tableUnreadable:
		return tableUnreadable
	case scan.inSandbox:
		return errInSandbox.Error()
	}
	return ""
}

// tableUnreadable is why any process may run a session.
const tableUnreadable = "the processes cannot be read"

// fileExists reports whether the file of a record still exists. Claude Code renames its transcript when a session goes to a
// worktree (2.1.330), Codex its rollout when one is archived.
func fileExists(r *Record) bool {
	_, err := os.Lstat(r.Path)
	return !errors.Is(err, fs.ErrNotExist)
}

// Result correlates what was read. The sessions are in order.
func (scan *Scan) Result() Result {
	scan.joinNames()
	cor := newCorrelation(scan.table, scan.claims)
	cor.exists, cor.hidden, cor.absence = fileExists, scan.hidden(), scan.absence
	cor.link()
	sessions := cor.sessions(scan.records)
	markCopies(sessions)
	for i := range sessions {
		scan.setTrust(&sessions[i])
		sessions[i].Group = cmp.Or(groupOf(&sessions[i]), sessions[i].Team)
	}
	agents := map[proc.ID]bool{}
	for _, c := range scan.claims {
		if _, live := scan.table.Find(c.Process); live {
			agents[c.Process] = true
		}
	}
	return Result{
		Sessions: scan.sortSessions(sessions), Warnings: scan.warnings, Table: scan.table, ProcessesUnknown: scan.tableUnreadable,
		AgentProcesses: agents, SessionsByProcess: sessionsByProcess(sessions),
	}
}

// sessionsByProcess returns the sessions that each process runs, in order.
func sessionsByProcess(sessions []Session) map[proc.ID][]Key {
	var live []Session
	for i := range sessions {
		if len(sessions[i].Processes) > 0 {
			live = append(live, sessions[i])
		}
	}
	runs := map[proc.ID][]Key{}
	for _, s := range sorted(live) {
		for _, p := range s.Processes {
			runs[p.ID] = append(runs[p.ID], s.Key())
		}
	}
	return runs
}
