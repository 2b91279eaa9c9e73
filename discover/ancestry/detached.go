package ancestry

import (
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// detachedProcess is a process that may belong to another process than its parent, by what its markers name.
type detachedProcess struct {
	proc.Process
	markers []agentMarker
}

// findDetached finds the detached processes of the users that run the sessions, those older than the sessions' processes
// included ([Trees.LeftBehind]).
func findDetached(scanner *discover.Scanner, table *proc.Table, sessions []discover.Session) (out []detachedProcess) {
	users := map[int]bool{}
	for _, s := range sessions {
		for _, p := range s.Processes {
			users[p.UID] = true
		}
	}
	for p := range table.All() {
		if !p.Alive() || !users[p.UID] || !isDetached(table, p) {
			continue
		}
		if markers := readMarkers(scanner, p); len(markers) > 0 {
			out = append(out, detachedProcess{p, markers})
		}
	}
	return out
}

// candidates returns the detached processes with a marker of the session or of a process that runs it.
func (t *Trees) candidates(s discover.Session) (out []proc.Process) {
	var pids []int
	for _, p := range s.Processes {
		own, err := p.NamespacePIDs()
		if err != nil {
			own = []int{p.ID.PID}
		}
		pids = append(pids, own...)
	}
	for _, d := range t.detached {
		if slices.ContainsFunc(d.markers, func(m agentMarker) bool {
			return m.names(s) || m.agent == s.Agent && slices.Contains(pids, m.PID)
		}) {
			out = append(out, d.Process)
		}
	}
	return out
}

// isDetached reports whether a process may belong to another process than its parent. A child is in its parent's session of
// the kernel until it leads one of its own.
func isDetached(table *proc.Table, p proc.Process) bool {
	parent, ok := parentOf(table, p)
	return !ok || parent.ID.PID == 1 || p.Session == p.ID.PID || p.Session != parent.Session
}

// parentOf returns the parent of p, if it lives.
func parentOf(table *proc.Table, p proc.Process) (proc.Process, bool) {
	for parent := range table.Ancestors(p.ID.PID) {
		return parent, true
	}
	return proc.Process{}, false
}
