package ancestry

import (
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// detachedProcesses are the processes that may belong to another process than their parent, by what their markers name.
// Only of these the environment is read to find out which session they belong to.
type detachedProcesses struct {
	byMarker map[markerKey][]proc.Process
	// unindexed are those whose agents' markers cannot be read, so that they may belong to any session.
	unindexed []proc.Process
}

// markerKey is something that a marker names: a session, or the agent's process by its pid in its own namespace.
type markerKey struct {
	agent   discover.Agent
	session string
	pid     int
}

// findDetached finds the detached processes of the users that run the sessions, those older than the sessions' processes
// included ([Trees.LeftBehind]).
func findDetached(scanner *discover.Scanner, table *proc.Table, sessions []discover.Session) (d detachedProcesses) {
	users, agents := map[int]bool{}, map[discover.Agent]bool{}
	for _, s := range sessions {
		for _, p := range s.Processes {
			users[p.UID], agents[s.Agent] = true, true
		}
	}
	if len(users) == 0 {
		return d
	}
	for agent := range discover.AdaptersWith[discover.MarkerReader](scanner.Adapters) {
		delete(agents, agent)
	}
	indexed := len(agents) == 0
	d.byMarker = map[markerKey][]proc.Process{}
	for p := range table.All() {
		switch {
		case !p.Alive() || !users[p.UID] || !isDetached(table, p):
		case !indexed:
			d.unindexed = append(d.unindexed, p)
		default:
			d.add(p, readMarkers(scanner, p))
		}
	}
	return d
}

func (d *detachedProcesses) add(p proc.Process, markers []agentMarker) {
	for _, m := range markers {
		for _, id := range m.sessionIDs() {
			key := markerKey{agent: m.agent, session: id}
			d.byMarker[key] = append(d.byMarker[key], p)
		}
		if m.PID > 0 {
			key := markerKey{agent: m.agent, pid: m.PID}
			d.byMarker[key] = append(d.byMarker[key], p)
		}
	}
}

// candidates returns the processes that may have a marker of the session or of a process that runs it. Some may be in the
// list twice.
func (d *detachedProcesses) candidates(s discover.Session) []proc.Process {
	out := slices.Concat(d.unindexed, d.byMarker[markerKey{agent: s.Agent, session: s.ID}])
	for _, p := range s.Processes {
		pids, err := p.NamespacePIDs()
		if err != nil {
			pids = []int{p.ID.PID}
		}
		for _, pid := range pids {
			out = append(out, d.byMarker[markerKey{agent: s.Agent, pid: pid}]...)
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
