package stop

import (
	"maps"
	"slices"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// leftovers are the live processes that provably belong to a session that is over: the descendants that its process was seen to
// have while it was alive, the processes whose environment names the session, and the descendants of both. They never include
//   - another agent, its ancestors and its descendants,
//   - a process whose environment names another agent's session,
//   - this process and its ancestors,
//   - another user's process.
func (t *target) leftovers(now discover.Result) []proc.Process {
	alien := t.alien(now)
	left := proc.Descendants{}
	if t.gone() {
		for _, a := range t.agents {
			maps.Copy(left, a.below)
			if a.process.Session == a.process.ID.PID {
				left[a.process.ID] = a.process // for what is in the session of the kernel that it led
			}
		}
	}
	users := t.users(now.Table)
	for p := range now.Table.All() {
		if p.Alive() && !alien(p) && users[p.UID] && t.marked(p) && (left[p.ID].ID == p.ID || !t.excluded(p) && t.belongs(now, p)) {
			left[p.ID] = p
		}
	}
	return t.remains(now, left)
}

// remains are the living processes of a family that the session has left behind, and what descends from them, but for what
// is others' as well.
func (t *target) remains(now discover.Result, left proc.Descendants) (out []proc.Process) {
	alien, users := t.alien(now), t.users(now.Table)
	left.Expand(now.Table, alien)
	spared := t.spared(now, left, alien)
	for p := range now.Table.All() {
		if _, ours := left[p.ID]; ours && p.Alive() && users[p.UID] && !spared(p) {
			out = append(out, p)
		}
	}
	return out
}

// alien tells the agents that are not the session's: one that runs below of it has its own life. Those that it runs
// below of itself do not make its tools theirs.
func (t *target) alien(now discover.Result) func(proc.Process) bool {
	return func(p proc.Process) bool {
		return now.AgentProcesses[p.ID] && !slices.ContainsFunc(t.agents, func(a *agent) bool {
			return a.outer[p.ID] || a.process.ID == p.ID && a.gone
		})
	}
}

// users are those whose processes may be ended: the users that ran the session.
func (t *target) users(table *proc.Table) map[int]bool {
	users := map[int]bool{}
	for _, a := range t.agents {
		users[a.process.UID] = true
	}
	if self, ok := table.ByPID(t.SelfPID); ok && len(users) == 0 {
		users[self.UID] = true
	}
	return users
}

// marked reports whether the environment says that p is the session's. As long as the session's process lives it has tools
// of its own and of other sessions; then, only the session's name counts.
func (t *target) marked(p proc.Process) bool {
	s := t.Before
	if s.ID == "" {
		s.Record = &discover.Record{ID: "\x00"} // what no environment can hold
	}
	if !t.gone() {
		s.Processes = nil
	}
	return t.stopper.HasMarker(p, s)
}

// spared tells what of the family is others' as well.
func (t *target) spared(now discover.Result, left proc.Descendants, alien func(proc.Process) bool) func(proc.Process) bool {
	kept := map[proc.ID]bool{}
	if self, ok := now.Table.ByPID(t.SelfPID); ok {
		keep(kept, now.Table, self)
	}
	for id := range now.AgentProcesses {
		if p, ok := now.Table.Find(id); ok && alien(p) {
			keep(kept, now.Table, p)
		}
	}
	nested := t.nested(now, left, alien)
	return func(p proc.Process) bool {
		if kept[p.ID] {
			return true
		}
		for a := range now.Table.Ancestors(p.ID.PID) {
			if t.Before.HasProcess(a.ID) {
				break
			}
			if alien(a) {
				return true
			}
		}
		return slices.ContainsFunc(nested, func(n owner) bool { return n.HasMarker(p, n.session) })
	}
}

// keep spares a process and all that it runs below of: a shell or a launcher would take it along.
func keep(kept map[proc.ID]bool, table *proc.Table, p proc.Process) {
	kept[p.ID] = true
	for a := range table.Ancestors(p.ID.PID) {
		kept[a.ID] = true
	}
}

// owner is a session that has tools of its own.
type owner struct {
	launch.Stopper
	session discover.Session
}

// nested are the live sessions that were started from within this one. Their tools carry its marks, too.
func (t *target) nested(now discover.Result, left proc.Descendants, alien func(proc.Process) bool) (out []owner) {
	for _, s := range now.Sessions {
		for _, p := range s.Processes {
			if t.Before.HasProcess(p.ID) {
				continue
			}
			outside := func(q proc.Process) bool { return q.ID != p.ID && alien(q) }
			if alien(p) && (left.Includes(now.Table, p, outside) || t.marked(p)) {
				out = append(out, owner{t.stopperOf(s.Agent), s})
			}
		}
	}
	return out
}
