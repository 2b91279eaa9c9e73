package discover

import (
	"context"
	"slices"

	"agentctl/proc"
)

// LeftBehind returns the processes that an earlier process of a live session has left behind, such as a server that the
// session started before it crashed and was resumed. They belong to the session. What such a process has started is not in
// the list. unclear are those that may belong to another session with the same ID.
//
// A process is left behind if
//   - it is older than every process that runs the session, has the same user, and is no agent,
//   - its environment has the marker of this session and no other one,
//   - the agent's process that the marker names has ended,
//   - none of its ancestors is an agent, and none of the session's processes descends from it,
//   - no other live process of the agent can have started it before that went on to another session.
func (f *ProcessTrees) LeftBehind(ctx context.Context, s Session) (left, unclear []proc.Process) {
	if f.result.Table == nil || len(s.Processes) == 0 || s.ID == "" {
		return nil, nil
	}
	var rivals []Session
	asked := false
	for _, p := range f.adrift.of(s) {
		if seen := func(q proc.Process) bool { return q.ID == p.ID }; slices.ContainsFunc(left, seen) ||
			slices.ContainsFunc(unclear, seen) || !Predates(p, s) || !f.isLeftBehind(s, p) {
			continue
		}
		if !asked {
			rivals, asked = f.world.SameIDSessions(ctx, s), true
		}
		switch fits, sole := f.world.Belongs(f.result.Table, p, s, rivals); {
		case fits && sole:
			left = append(left, p)
		case fits:
			unclear = append(unclear, p)
		}
	}
	return left, unclear
}

// Predates reports whether a process is older than every process that runs the session.
func Predates(p proc.Process, s Session) bool {
	return !slices.ContainsFunc(s.Processes, func(q proc.Process) bool { return p.Ticks >= q.Ticks })
}

// isLeftBehind is the rule of [ProcessTrees.LeftBehind], but for other sessions with the same ID.
func (f *ProcessTrees) isLeftBehind(s Session, p proc.Process) bool {
	table, marks := f.result.Table, f.world.marks(p)
	if len(marks) != 1 || marks[0].agent != s.Agent || !slices.Contains(marks[0].sessions(), s.ID) {
		return false
	}
	mark := marks[0]
	if mark.PID > 0 && !ended(table, mark.PID, p) || mark.PID == 0 && mark.OutlivesSession && f.mayServe(s, p) {
		return false
	}
	if p.UID != s.Processes[0].UID || f.isAgent(p) {
		return false
	}
	for a := range table.Ancestors(p.ID.PID) {
		if f.isAgent(a) {
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
func (f *ProcessTrees) isAgent(p proc.Process) bool {
	return f.result.AgentProcesses[p.ID] || f.world.isAgent(p)
}

// mayServe reports whether another live process of the agent is old enough to have started p and may work in the same
// directory: it may have gone on from the session, and p with it.
func (f *ProcessTrees) mayServe(s Session, p proc.Process) bool {
	for id := range f.result.AgentProcesses {
		q, ok := f.result.Table.Find(id)
		if !ok || !older(q, p) || q.UID != p.UID || !f.runs(q, s.Agent) {
			continue
		}
		if dir, err := q.Cwd(); err != nil || s.Dir == "" || RealPath(dir) == RealPath(s.Dir) {
			return true
		}
	}
	return false
}

// runs reports whether a process runs sessions of an agent, or none that is known.
func (f *ProcessTrees) runs(p proc.Process, agent Agent) bool {
	keys := f.result.SessionsByProcess[p.ID]
	return len(keys) == 0 || slices.ContainsFunc(keys, func(k Key) bool { return k.Agent == agent })
}
