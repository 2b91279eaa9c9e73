package ancestry

import (
	"cmp"
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// Node is one process of a session's tree.
type Node struct {
	proc.Process
	// Shared: it serves other sessions as well, or may: a process that does has started it, and it has no session's marker.
	Shared bool
	// Sessions are the sessions that it runs, where none of them is this one. It has a tree of its own then.
	Sessions []discover.Key
}

// Trees builds the process trees of several sessions of one result. It works out once what they have in common, so that the
// cost of all trees grows with the number of processes, not with that times the number of sessions.
type Trees struct {
	scanner  *discover.Scanner
	result   discover.Result
	detached []MarkedProcess
}

// NewTrees returns the trees of these sessions of r.
func NewTrees(scanner *discover.Scanner, r discover.Result, sessions []discover.Session) *Trees {
	t := &Trees{scanner: scanner, result: r}
	if r.Table != nil {
		t.detached = findDetached(scanner, r.Table, sessions)
	}
	return t
}

// Tree returns the processes that run a session and all that descend from them, parents before children: by parent pid, by
// the session of the kernel, and by the agent's environment marker, which outlives both. Of an agent that was started from
// within, and of what a shared process does for another session, only the top is included. What an earlier process of the
// session has left behind comes last ([Trees.LeftBehind]).
func (t *Trees) Tree(s discover.Session) []Node {
	if len(s.Processes) == 0 || t.result.Table == nil {
		return nil
	}
	b := &treeBuilder{
		Trees: t, session: s,
		members: proc.Descendants{}, toolsOfOthers: map[proc.ID][]discover.Key{}, foreign: map[proc.ID]proc.Process{},
	}
	for _, p := range s.Processes {
		b.members[p.ID] = p
		b.findToolsOfOthers(p)
	}
	b.members.Expand(b.result.Table, b.isForeign)
	b.addDetached()
	b.addLeftBehind()
	return b.nodes()
}

// treeBuilder builds the tree of one session.
type treeBuilder struct {
	*Trees
	session discover.Session
	members proc.Descendants
	// toolsOfOthers are the processes that the session's processes have started for other sessions.
	toolsOfOthers map[proc.ID][]discover.Key
	// foreign are the processes of other sessions that were found below this one.
	foreign map[proc.ID]proc.Process
}

func (t *treeBuilder) runsSession(p proc.Process) bool { return t.session.HasProcess(p.ID) }

// otherSessions returns the other sessions that a process runs, or works for; none of a dead process.
func (t *treeBuilder) otherSessions(p proc.Process) []discover.Key {
	switch keys := t.result.SessionsByProcess[p.ID]; {
	case !p.Alive() || t.runsSession(p):
		return nil
	case keys != nil:
		return keys
	}
	return t.toolsOfOthers[p.ID]
}

// isForeign reports whether a process belongs to another session, and remembers it.
func (t *treeBuilder) isForeign(p proc.Process) bool {
	foreign := t.otherSessions(p) != nil
	if foreign {
		t.foreign[p.ID] = p
	}
	return foreign
}

// findToolsOfOthers finds what a process that runs several sessions has started for the others, by the agent's marker.
func (t *treeBuilder) findToolsOfOthers(own proc.Process) {
	runs := t.result.SessionsByProcess[own.ID]
	if len(runs) < 2 {
		return
	}
	for p := range t.result.Table.Children(own.ID.PID) {
		if !p.Alive() || t.runsSession(p) || t.hasMarker(p, t.session.Key()) {
			continue
		}
		if i := slices.IndexFunc(runs, func(k discover.Key) bool { return t.hasMarker(p, k) }); i >= 0 {
			t.toolsOfOthers[p.ID] = runs[i : i+1]
		}
	}
}

// isTopBelowMember reports whether p is the top of another session's tree, right below a member of this one.
func (t *treeBuilder) isTopBelowMember(p proc.Process) bool {
	others := func(q proc.Process) bool { return q.ID != p.ID && t.isForeign(q) }
	return t.isForeign(p) && t.members.Includes(t.result.Table, p, others)
}

// addDetached adds what has lost its parents but has the session's marker, and what descends from that.
func (t *treeBuilder) addDetached() {
	oldest := t.session.Processes[0]
	var below []proc.Process // what runs sessions below this one
	for _, p := range t.foreign {
		if t.isTopBelowMember(p) {
			below = append(below, p)
		}
	}
	for _, p := range t.candidates(t.session) {
		if _, known := t.members[p.ID]; known || t.isForeign(p) || p.UID != oldest.UID || p.Ticks < oldest.Ticks {
			continue
		}
		// What a session below this one has started has the markers of both.
		if t.hasMarker(p, t.session.Key(), t.session.Processes...) && !t.isMarkedByAny(p, below) {
			t.members[p.ID] = p
		}
	}
	t.members.Expand(t.result.Table, t.isForeign)
}

// addLeftBehind adds what an earlier process of the session has left behind, and what descends from that.
func (t *treeBuilder) addLeftBehind() {
	for _, p := range t.LeftBehind(t.session) {
		t.members[p.ID] = p
	}
	t.members.Expand(t.result.Table, t.isForeign)
}

func (t *treeBuilder) isMarkedByAny(p proc.Process, agents []proc.Process) bool {
	return slices.ContainsFunc(agents, func(a proc.Process) bool {
		return slices.ContainsFunc(t.otherSessions(a), func(k discover.Key) bool { return t.hasMarker(p, k, a) })
	})
}

// hasMarker reports whether the environment of p says that it was started for the session, or by one of the processes.
func (t *treeBuilder) hasMarker(p proc.Process, k discover.Key, processes ...proc.Process) bool {
	return discover.AdapterOf(t.scanner.Adapters, k.Agent).HasMarker(p, discover.Session{Record: &discover.Record{Agent: k.Agent, ID: k.ID}, Processes: processes})
}

// nodes returns the processes in order: each before those that it has started, siblings by pid.
func (t *treeBuilder) nodes() (out []Node) {
	in := map[proc.ID]bool{}
	var list []proc.Process
	for _, p := range t.foreign {
		if t.isTopBelowMember(p) {
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
	var add func(p proc.Process, shared bool)
	add = func(p proc.Process, shared bool) {
		shared = shared && !t.isForeign(p) && (t.runsSession(p) || !t.hasMarker(p, t.session.Key()))
		out = append(out, Node{Process: p, Shared: shared, Sessions: t.otherSessions(p)})
		for c := range t.result.Table.Children(p.ID.PID) {
			if in[c.ID] {
				add(c, shared)
			}
		}
	}
	for _, p := range list {
		if parent, ok := t.result.Table.Parent(p); !ok || !in[parent.ID] {
			add(p, t.session.Shared || t.session.IsSubagent())
		}
	}
	return out
}
