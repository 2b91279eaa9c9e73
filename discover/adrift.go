package discover

import (
	"slices"

	"agentctl/proc"
)

// adrift are the processes that may be another's children than their starter's, by what their marks name. Only of them
// the environment is worth reading to find out whom they belong to.
type adrift struct {
	named map[markName][]proc.Process
	// unnamed are those of which the marks cannot be read by their names.
	unnamed []proc.Process
}

// markName is something that a mark names: a session, or the agent's own process as that sees itself.
type markName struct {
	agent   Agent
	session string
	pid     int
}

// findAdrift finds those of the sessions' users, older ones than the sessions' processes included ([ProcessTrees.LeftBehind]).
func (w *Scanner) findAdrift(table *proc.Table, sessions []Session) (a adrift) {
	users, agents := map[int]bool{}, map[Agent]bool{}
	for _, s := range sessions {
		for _, p := range s.Processes {
			users[p.UID], agents[s.Agent] = true, true
		}
	}
	if len(users) == 0 {
		return a
	}
	for agent := range AdaptersWith[MarkerReader](w.Adapters) {
		delete(agents, agent)
	}
	readable := len(agents) == 0
	a.named = map[markName][]proc.Process{}
	for p := range table.All() {
		switch {
		case !p.Alive() || !users[p.UID] || !isAdrift(table, p):
		case !readable:
			a.unnamed = append(a.unnamed, p)
		default:
			a.add(p, w.marks(p))
		}
	}
	return a
}

func (a *adrift) add(p proc.Process, marks []agentMark) {
	for _, m := range marks {
		for _, id := range m.sessions() {
			a.named[markName{agent: m.agent, session: id}] = append(a.named[markName{agent: m.agent, session: id}], p)
		}
		if m.PID > 0 {
			a.named[markName{agent: m.agent, pid: m.PID}] = append(a.named[markName{agent: m.agent, pid: m.PID}], p)
		}
	}
}

// of are those that may bear a mark of the session or of a process that runs it; some may be there twice.
func (a *adrift) of(s Session) []proc.Process {
	out := slices.Concat(a.unnamed, a.named[markName{agent: s.Agent, session: s.ID}])
	for _, p := range s.Processes {
		pids, err := p.NamespacePIDs()
		if err != nil {
			pids = []int{p.ID.PID}
		}
		for _, pid := range pids {
			out = append(out, a.named[markName{agent: s.Agent, pid: pid}]...)
		}
	}
	return out
}

// isAdrift reports whether a process may be another's child than its starter's. A child is in its parent's session of the
// kernel until it leads one of its own.
func isAdrift(table *proc.Table, p proc.Process) bool {
	parent, ok := parentOf(table, p)
	return !ok || parent.ID.PID == 1 || p.Session == p.ID.PID || p.Session != parent.Session
}

// parentOf is who has started p, as far as it lives.
func parentOf(table *proc.Table, p proc.Process) (proc.Process, bool) {
	for parent := range table.Ancestors(p.ID.PID) {
		return parent, true
	}
	return proc.Process{}, false
}
