package discover

import (
	"cmp"
	"context"
	"slices"

	"agentctl/proc"
)

// ProcessNode is one process of a session's tree.
type ProcessNode struct {
	proc.Process
	// Depth is how far below one of the session's own processes it is, or of one whose starter has ended.
	Depth int
	// Shared: it serves other sessions as well, or may: it was started by a process that does, and bears no session's mark.
	Shared bool
	// Runs are the sessions that it runs, where none of them is this one: it has a life, and a tree, of its own.
	Runs []Key
}

// ProcessTrees makes the trees of several sessions of one answer. What they have in common is worked out once, so that the cost
// of all trees grows with the number of processes, not with that times the number of sessions.
type ProcessTrees struct {
	world  *Scanner
	result Result
	adrift adrift
}

// ProcessTrees is for [ProcessTrees.Tree] of these sessions of r.
func (w *Scanner) ProcessTrees(r Result, sessions []Session) *ProcessTrees {
	f := &ProcessTrees{world: w, result: r}
	if r.Table != nil {
		f.adrift = w.findAdrift(r.Table, sessions)
	}
	return f
}

// Tree returns the processes that run a session and all that descends from them, each before what it has started: by
// its parents, by the session of the kernel, and by the agent's mark in its environment, which outlives both. Of an agent
// that was started from within, and of what a shared process does for another session, there is the top only. What an
// earlier process of the session has left behind comes last ([ProcessTrees.LeftBehind]).
func (f *ProcessTrees) Tree(ctx context.Context, s Session) []ProcessNode {
	if len(s.Processes) == 0 || f.result.Table == nil {
		return nil
	}
	t := &tree{ProcessTrees: f, session: s, members: proc.Descendants{}, works: map[proc.ID][]Key{}, met: map[proc.ID]proc.Process{}}
	for _, p := range s.Processes {
		t.members[p.ID] = p
		t.findWorks(p)
	}
	t.members.Expand(t.result.Table, t.alien)
	t.addAdrift()
	t.addLeftBehind(ctx)
	return t.branches()
}

// tree is a tree being made.
type tree struct {
	*ProcessTrees
	session Session
	members proc.Descendants
	// works are the processes that the session's own have started for other sessions.
	works map[proc.ID][]Key
	// met are the processes of other sessions that were come upon.
	met map[proc.ID]proc.Process
}

func (t *tree) own(p proc.Process) bool { return t.session.HasProcess(p.ID) }

// others are the other sessions that a process runs, or works for; none of a dead one.
func (t *tree) others(p proc.Process) []Key {
	switch runs := t.result.SessionsByProcess[p.ID]; {
	case !p.Alive() || t.own(p):
		return nil
	case runs != nil:
		return runs
	}
	return t.works[p.ID]
}

func (t *tree) alien(p proc.Process) bool {
	alien := t.others(p) != nil
	if alien {
		t.met[p.ID] = p
	}
	return alien
}

// findWorks finds what a process with several sessions has started for the others.
func (t *tree) findWorks(own proc.Process) {
	if len(t.result.SessionsByProcess[own.ID]) < 2 {
		return
	}
	for p := range t.result.Table.Children(own.ID.PID) {
		if works := t.worksFor(p); p.Alive() && !t.own(p) && works != nil {
			t.works[p.ID] = works
		}
	}
}

// worksFor is the other session that a tool of a process with several was started for, by the agent's mark.
func (t *tree) worksFor(p proc.Process) []Key {
	parent, ok := parentOf(t.result.Table, p)
	if !ok || !t.own(parent) || len(t.result.SessionsByProcess[parent.ID]) < 2 || t.marked(p, t.session.Key()) {
		return nil
	}
	for _, key := range t.result.SessionsByProcess[parent.ID] {
		if t.marked(p, key) {
			return []Key{key}
		}
	}
	return nil
}

// nested reports whether p is the top of another's tree right below a member.
func (t *tree) nested(p proc.Process) bool {
	others := func(q proc.Process) bool { return q.ID != p.ID && t.alien(q) }
	return t.alien(p) && t.members.Includes(t.result.Table, p, others)
}

// addAdrift adds what has been cut off from its parents, but bears the session's mark, and what descends from that.
func (t *tree) addAdrift() {
	oldest := t.session.Processes[0]
	var below []proc.Process // what runs sessions below this one
	for _, p := range t.met {
		if t.nested(p) {
			below = append(below, p)
		}
	}
	for _, p := range t.adrift.of(t.session) {
		if _, known := t.members[p.ID]; known || t.alien(p) || p.UID != oldest.UID || p.Ticks < oldest.Ticks {
			continue
		}
		// What a session below this one has started bears the marks of both.
		if t.marked(p, t.session.Key(), t.session.Processes...) && !t.markedByAny(p, below) {
			t.members[p.ID] = p
		}
	}
	t.members.Expand(t.result.Table, t.alien)
}

// addLeftBehind adds what an earlier process of the session has left behind, and what descends from that.
func (t *tree) addLeftBehind(ctx context.Context) {
	left, _ := t.LeftBehind(ctx, t.session)
	for _, p := range left {
		t.members[p.ID] = p
	}
	t.members.Expand(t.result.Table, t.alien)
}

func (t *tree) markedByAny(p proc.Process, agents []proc.Process) bool {
	return slices.ContainsFunc(agents, func(a proc.Process) bool {
		return slices.ContainsFunc(t.others(a), func(k Key) bool { return t.marked(p, k, a) })
	})
}

// marked reports whether the environment of p says that it was started for the session, or by one of the processes.
func (t *tree) marked(p proc.Process, k Key, processes ...proc.Process) bool {
	m, ok := AdapterWith[interface {
		Marked(proc.Process, Session) bool
	}](t.world.Adapters, k.Agent)
	return ok && m.Marked(p, Session{Record: &Record{Agent: k.Agent, ID: k.ID}, Processes: processes})
}

// branches puts the processes in order: a process, and then, by pid, what it has started.
func (t *tree) branches() (out []ProcessNode) {
	in := map[proc.ID]bool{}
	var list []proc.Process
	for _, p := range t.met {
		if t.nested(p) {
			in[p.ID] = true
			list = append(list, p)
		}
	}
	for id := range t.members {
		if p, ok := t.result.Table.ByPID(id.PID); ok && p.ID == id && !in[id] {
			in[id] = true
			list = append(list, p)
		}
	}
	slices.SortFunc(list, func(a, b proc.Process) int {
		switch old := Predates(a, t.session); {
		case old == Predates(b, t.session):
			return cmp.Compare(a.ID.PID, b.ID.PID)
		case old:
			return 1
		}
		return -1
	})
	var add func(p proc.Process, depth int, shared bool)
	add = func(p proc.Process, depth int, shared bool) {
		shared = shared && !t.alien(p) && (t.own(p) || !t.marked(p, t.session.Key()))
		out = append(out, ProcessNode{Process: p, Depth: depth, Shared: shared, Runs: t.others(p)})
		for c := range t.result.Table.Children(p.ID.PID) {
			if in[c.ID] {
				add(c, depth+1, shared)
			}
		}
	}
	for _, p := range list {
		if parent, ok := parentOf(t.result.Table, p); !ok || !in[parent.ID] {
			add(p, 0, t.session.Shared || t.session.IsSubagent())
		}
	}
	return out
}
