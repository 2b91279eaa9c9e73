package ancestry

import (
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// LeftBehind returns the processes that an earlier process of a live session has left behind, such as a server that the
// session started before it crashed and was resumed. They belong to the session. What such a process has started is not in
// the list.
//
// A process is left behind if
//   - it is older than every process that runs the session, has the same user, and is no agent,
//   - its environment has the marker of this session and no other one,
//   - the agent's process that the marker names has ended,
//   - none of its ancestors is an agent, and none of the session's processes descends from it,
//   - no other live process of the agent can have started it before that went on to another session.
func (t *Trees) LeftBehind(s discover.Session) (left []proc.Process) {
	if t.result.Table == nil || len(s.Processes) == 0 || s.ID == "" || HasLiveTwin(t.result, s) {
		return nil
	}
	for _, p := range t.candidates(s) {
		if Predates(p, s) && t.isLeftBehind(s, p) {
			left = append(left, p)
		}
	}
	return left
}

// HasLiveTwin reports whether another live session has the ID of s, in another directory or home. Then an environment marker, which
// names a session by its ID alone, does not say whose a process is.
func HasLiveTwin(r discover.Result, s discover.Session) bool {
	for p, keys := range r.SessionsByProcess {
		if !s.HasProcess(p) && slices.ContainsFunc(keys, func(k discover.Key) bool { return k.Agent == s.Agent && k.ID == s.ID && k != s.Key() }) {
			return true
		}
	}
	return false
}

// Predates reports whether a process is older than every process that runs the session.
func Predates(p proc.Process, s discover.Session) bool {
	return !slices.ContainsFunc(s.Processes, func(q proc.Process) bool { return p.Ticks >= q.Ticks })
}

// isLeftBehind is the rule of [Trees.LeftBehind] for a process that predates the session's.
func (t *Trees) isLeftBehind(s discover.Session, p proc.Process) bool {
	table, markers := t.result.Table, readMarkers(t.scanner, p)
	if len(markers) != 1 || !markers[0].names(s) {
		return false
	}
	m := markers[0]
	if m.PID > 0 && !markerProcessEnded(table, m.PID, p) || m.PID == 0 && m.OutlivesSession && t.mayServeOther(s, p) {
		return false
	}
	if p.UID != s.Processes[0].UID || t.isAgent(p) {
		return false
	}
	for a := range table.Ancestors(p.ID.PID) {
		if t.isAgent(a) {
			return false
		}
	}
	return !slices.ContainsFunc(s.Processes, func(q proc.Process) bool {
		for a := range table.Ancestors(q.ID.PID) {
			if a.ID == p.ID {
				return true
			}
		}
		return false
	})
}

// isAgent reports whether a process is an agent, one that runs no session included.
func (t *Trees) isAgent(p proc.Process) bool {
	return t.result.AgentProcesses[p.ID] || t.scanner.IsAgent(p)
}

// mayServeOther reports whether another live process of the agent is old enough to have started p and may work in the same
// directory: it may have gone on from the session to another one, and p with it.
func (t *Trees) mayServeOther(s discover.Session, p proc.Process) bool {
	for id := range t.result.AgentProcesses {
		q, ok := t.result.Table.Find(id)
		if !ok || !startedBy(q, p) || q.UID != p.UID || !t.mayRun(q, s.Agent) {
			continue
		}
		if dir, err := q.Cwd(); err != nil || s.Dir == "" || discover.RealPath(dir) == discover.RealPath(s.Dir) {
			return true
		}
	}
	return false
}

// mayRun reports whether a process runs sessions of an agent, or none that is known.
func (t *Trees) mayRun(p proc.Process, agent discover.Agent) bool {
	keys := t.result.SessionsByProcess[p.ID]
	return len(keys) == 0 || slices.ContainsFunc(keys, func(k discover.Key) bool { return k.Agent == agent })
}

// findDetached finds the marked processes of the users that run the sessions which may belong to another process than their parent. They
// may be older than the sessions' processes ([Trees.LeftBehind]).
func findDetached(scanner *discover.Scanner, table *proc.Table, sessions []discover.Session) (out []MarkedProcess) {
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
			out = append(out, MarkedProcess{Process: p, markers: markers})
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
	parent, ok := table.Parent(p)
	return !ok || parent.ID.PID == 1 || p.Session == p.ID.PID || p.Session != parent.Session
}
