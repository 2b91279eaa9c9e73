package discover

import (
	"slices"

	"agentctl/proc"
)

// Branch is one process of a session's tree.
type Branch struct {
	proc.Process
	// Depth is how far below one of the session's own processes it is, or of one whose starter has ended.
	Depth int
	// Shared: it serves other sessions as well, or may: it was started by a process that does, and bears no session's mark.
	Shared bool
	// Runs are the sessions that it runs, where none of them is this one: it has a life, and a tree, of its own.
	Runs []Key
}

// Tree returns the processes that run a session and all that descends from them, each before what it has started: by
// its parents, by the session of the kernel, and by the agent's mark in its environment, which outlives both. Of an agent
// that was started from within, and of what a shared process does for another session, there is the top only. r is the
// answer that s is of.
func (w *World) Tree(r Result, s Session) []Branch {
	if len(s.Processes) == 0 || r.Table == nil {
		return nil
	}
	t := &tree{world: w, result: r, session: s, members: proc.Family{}, others: map[proc.ID][]Key{}}
	for _, p := range s.Processes {
		t.members[p.ID] = p
	}
	t.findOthers()
	t.members.Grow(r.Table, t.alien)
	t.addAdrift()
	return t.branches()
}

// tree is a tree being made.
type tree struct {
	world   *World
	result  Result
	session Session
	members proc.Family
	// others are the processes that run other sessions, or work for them.
	others map[proc.ID][]Key
}

func (t *tree) own(p proc.Process) bool {
	return slices.ContainsFunc(t.session.Processes, func(q proc.Process) bool { return q.ID == p.ID })
}

func (t *tree) alien(p proc.Process) bool { return t.others[p.ID] != nil }

func (t *tree) findOthers() {
	for p := range t.result.Table.All() {
		if t.own(p) || !p.Alive() {
			continue
		}
		if runs := t.result.Runs[p.ID]; runs != nil {
			t.others[p.ID] = runs
		} else if works := t.worksFor(p); works != nil {
			t.others[p.ID] = works
		}
	}
}

// worksFor is the other session that a tool of a process with several was started for, by the agent's mark.
func (t *tree) worksFor(p proc.Process) []Key {
	parent, ok := t.parent(p)
	if !ok || !t.own(parent) || len(t.result.Runs[parent.ID]) < 2 || t.marked(p, t.session.Key()) {
		return nil
	}
	for _, key := range t.result.Runs[parent.ID] {
		if t.marked(p, key) {
			return []Key{key}
		}
	}
	return nil
}

// parent is who has started p, as far as it lives.
func (t *tree) parent(p proc.Process) (proc.Process, bool) {
	for parent := range t.result.Table.Ancestors(p.ID.PID) {
		return parent, true
	}
	return proc.Process{}, false
}

// nested reports whether p is the top of another's tree right below a member.
func (t *tree) nested(p proc.Process) bool {
	others := func(q proc.Process) bool { return q.ID != p.ID && t.alien(q) }
	return t.alien(p) && t.members.Begot(t.result.Table, p, others)
}

// addAdrift adds what has been cut off from its parents, but bears the session's mark, and what descends from that.
func (t *tree) addAdrift() {
	oldest := t.session.Processes[0]
	var below []proc.Process // what runs sessions below this one
	for p := range t.result.Table.All() {
		if t.nested(p) {
			below = append(below, p)
		}
	}
	for p := range t.result.Table.All() {
		if _, known := t.members[p.ID]; known || !p.Alive() || t.alien(p) || p.UID != oldest.UID || p.Ticks < oldest.Ticks {
			continue
		}
		// What a session below this one has started bears the marks of both.
		if t.adrift(p) && t.marked(p, t.session.Key(), t.session.Processes...) && !t.markedByAny(p, below) {
			t.members[p.ID] = p
		}
	}
	t.members.Grow(t.result.Table, t.alien)
}

// adrift reports whether a process may be another's child than its starter's: only then is its environment worth reading.
// A child is in its parent's session of the kernel until it leads one of its own.
func (t *tree) adrift(p proc.Process) bool {
	parent, ok := t.parent(p)
	return !ok || parent.ID.PID == 1 || p.Session == p.ID.PID || p.Session != parent.Session
}

func (t *tree) markedByAny(p proc.Process, agents []proc.Process) bool {
	return slices.ContainsFunc(agents, func(a proc.Process) bool {
		return slices.ContainsFunc(t.others[a.ID], func(k Key) bool { return t.marked(p, k, a) })
	})
}

// marked reports whether the environment of p says that it was started for the session, or by one of the processes.
func (t *tree) marked(p proc.Process, k Key, processes ...proc.Process) bool {
	m, ok := t.adapter(k.Agent).(interface {
		Marked(proc.Process, Session) bool
	})
	return ok && m.Marked(p, Session{Record: &Record{Agent: k.Agent, ID: k.ID}, Processes: processes})
}

func (t *tree) adapter(agent Agent) Adapter {
	for _, a := range t.world.Adapters {
		if a.Name() == agent {
			return a
		}
	}
	return nil
}

// branches puts the processes in order: a process, and then, by pid, what it has started.
func (t *tree) branches() (out []Branch) {
	in := map[proc.ID]bool{}
	for p := range t.result.Table.All() {
		_, member := t.members[p.ID]
		in[p.ID] = member || t.nested(p)
	}
	var add func(p proc.Process, depth int, shared bool)
	add = func(p proc.Process, depth int, shared bool) {
		shared = shared && !t.alien(p) && (t.own(p) || !t.marked(p, t.session.Key()))
		out = append(out, Branch{Process: p, Depth: depth, Shared: shared, Runs: t.others[p.ID]})
		for c := range t.result.Table.Children(p.ID.PID) {
			if in[c.ID] {
				add(c, depth+1, shared)
			}
		}
	}
	for p := range t.result.Table.All() {
		if parent, ok := t.parent(p); in[p.ID] && (!ok || !in[parent.ID]) {
			add(p, 0, t.session.Shared || t.session.IsSub())
		}
	}
	return out
}
