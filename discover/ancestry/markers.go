package ancestry

import (
	"context"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// agentMarker is an environment marker with the agent that set it.
type agentMarker struct {
	discover.EnvMarker
	agent discover.Agent
}

// sessionIDs returns the IDs that the marker names.
func (m agentMarker) sessionIDs() []string {
	return slices.DeleteFunc([]string{m.Session, m.Root}, func(id string) bool { return id == "" })
}

// names reports whether the marker names the session.
func (m agentMarker) names(s discover.Session) bool {
	return m.agent == s.Agent && slices.Contains(m.sessionIDs(), s.ID)
}

// markerKeys returns the environment variables that hold the markers of all agents.
func markerKeys(scanner *discover.Scanner) (keys []string) {
	for _, a := range scanner.Adapters {
		keys = append(keys, a.MarkerKeys()...)
	}
	return keys
}

// readMarkers returns the markers in the environment of a process. An environment that may not be read, such as another
// user's, has none.
func readMarkers(scanner *discover.Scanner, p proc.Process) (markers []agentMarker) {
	keys := markerKeys(scanner)
	if !p.MayHaveEnv(keys...) { // so it is of most processes
		return nil
	}
	env, err := p.Env(keys...)
	if err != nil || len(env) == 0 {
		return nil
	}
	for _, a := range scanner.Adapters {
		if marker, ok := a.ReadMarker(func(key string) string { return env[key] }); ok {
			markers = append(markers, agentMarker{marker, a.Name()})
		}
	}
	return markers
}

// HasMarkedProcess reports whether any live process has a marker that names the session.
func HasMarkedProcess(scanner *discover.Scanner, table *proc.Table, s discover.Session) bool {
	for p := range table.WithEnv(markerKeys(scanner)...) {
		if p.Alive() && slices.ContainsFunc(readMarkers(scanner, p), func(m agentMarker) bool { return m.names(s) }) {
			return true
		}
	}
	return false
}

// markerProcessEnded reports whether the process has ended that had this pid when it started p. The pids of a container are
// not ours, so nothing is known of them.
func markerProcessEnded(table *proc.Table, pid int, p proc.Process) bool {
	if pids, err := p.NamespacePIDs(); err != nil || len(pids) > 1 {
		return false
	}
	starter, listed := table.ByPID(pid)
	if !listed {
		return !table.Hidden()
	}
	return !starter.Alive() || !startedBy(starter, p)
}

// startedBy reports whether p is old enough to have started the other process.
func startedBy(p, other proc.Process) bool {
	return p.Ticks <= other.Ticks && !p.Started.After(other.Started)
}

// MarkedProcess is a live process with environment markers of agents.
type MarkedProcess struct {
	proc.Process
	// Orphan: everything that its markers name has ended.
	Orphan bool
	// Session is a session that an orphan was started for, stopped. It has no ID where the agent's marker names its process
	// only.
	Session discover.Session
	markers []agentMarker
}

// Related reports whether both were started for one session, or by one process of an agent, by their markers.
func (p MarkedProcess) Related(o MarkedProcess) bool {
	return slices.ContainsFunc(p.markers, func(m agentMarker) bool {
		return slices.ContainsFunc(o.markers, func(n agentMarker) bool {
			return m.agent == n.agent && (m.Session != "" && m.Session == n.Session || m.PID > 0 && m.PID == n.PID)
		})
	})
}

// MarkedProcesses returns the live processes that have environment markers and are no agents themselves. The result holds
// all live sessions, and the stopped ones that a marker names; if there are marked processes, its agent processes include
// those that run no session. A process is no orphan where it cannot be told whether its session has ended: where neither
// storage nor a marker tells, or where processes are hidden.
func MarkedProcesses(ctx context.Context, scanner *discover.Scanner) (discover.Result, []MarkedProcess, error) {
	scan, err := scanner.ScanLive(ctx)
	if err != nil {
		return discover.Result{}, nil, err
	}
	r := scan.Result()
	agents := r.AgentProcesses
	var marked []MarkedProcess
	for p := range r.Table.WithEnv(markerKeys(scanner)...) {
		if !p.Alive() || agents[p.ID] || scanner.IsAgent(p) {
			continue
		}
		if markers := readMarkers(scanner, p); len(markers) > 0 {
			marked = append(marked, MarkedProcess{Process: p, Session: discover.UnknownSession(), markers: markers})
		}
	}
	if len(marked) == 0 {
		return r, nil, ctx.Err()
	}
	for p := range r.Table.All() {
		if p.Alive() && scanner.IsAgent(p) {
			agents[p.ID] = true
		}
	}
	scan.ReadByID(ctx, stoppedSessions(marked, r.Sessions))
	r = scan.Result()
	r.AgentProcesses = agents
	if !scan.ProcessesHidden() {
		for i := range marked {
			marked[i].findOrphan(r)
		}
	}
	return r, marked, ctx.Err()
}

// stoppedSessions returns the IDs that markers name, without those of live sessions.
func stoppedSessions(marked []MarkedProcess, live []discover.Session) map[discover.Agent][]string {
	ids := map[discover.Agent][]string{}
	for _, p := range marked {
		for _, m := range p.markers {
			for _, id := range m.sessionIDs() {
				known := slices.Contains(ids[m.agent], id) ||
					slices.ContainsFunc(live, func(s discover.Session) bool { return s.Agent == m.agent && s.ID == id })
				if !known {
					ids[m.agent] = append(ids[m.agent], id)
				}
			}
		}
	}
	return ids
}

// findOrphan sets Orphan and Session.
func (p *MarkedProcess) findOrphan(r discover.Result) {
	for i, m := range p.markers {
		s, ended := m.ended(r, p.Process)
		if !ended {
			p.Session = discover.UnknownSession()
			return
		}
		if i == 0 || p.Session.ID == "" {
			p.Session = s
		}
	}
	p.Orphan = true
}

// ended reports whether everything that the marker of p names has ended. s is the session, as far as it is known.
func (m agentMarker) ended(r discover.Result, p proc.Process) (s discover.Session, ended bool) {
	s = discover.Session{Record: &discover.Record{Agent: m.agent, ID: m.Session}}.Vanished()
	if m.PID > 0 && !markerProcessEnded(r.Table, m.PID, p) {
		return s, false
	}
	if m.Session != "" && hasUnlinkedWork(r, m.agent) {
		return s, false
	}
	for _, id := range m.sessionIDs() {
		stored := false
		for _, row := range r.Sessions {
			if row.Agent != m.agent || row.ID != id {
				continue
			}
			if row.Status != discover.Stopped || m.PID == 0 && m.OutlivesSession && mayServeNextSession(r, row, p) {
				return s, false
			}
			if stored = true; id == m.Session {
				s = row
			}
		}
		if !stored && m.PID == 0 && (r.Table.Hidden() || anyAgentStarted(r, p)) {
			return s, false
		}
	}
	return s, true
}

// hasUnlinkedWork reports whether a process of the agent works on a session that is not known: it may be any.
func hasUnlinkedWork(r discover.Result, agent discover.Agent) bool {
	return slices.ContainsFunc(r.Sessions, func(s discover.Session) bool {
		return s.Agent == agent && s.ID == "" && s.Status.Live() && s.Status != discover.Idle
	})
}

// anyAgentStarted reports whether any agent is old enough to have started p, for a session that it has not stored.
func anyAgentStarted(r discover.Result, p proc.Process) bool {
	for id := range r.AgentProcesses {
		if agent, ok := r.Table.Find(id); ok && startedBy(agent, p) {
			return true
		}
	}
	return false
}

// clockTolerance is how far the start of a process by the wall clock may be from what an agent noted at that time.
const clockTolerance = 2 * time.Second

// mayServeNextSession reports whether the process that ran a stopped session when it started p may have gone on to another
// session since, and p with it: it works in the same directory, is old enough, and did not begin, before it started p, the
// session that it runs now.
func mayServeNextSession(r discover.Result, stopped discover.Session, p proc.Process) bool {
	return slices.ContainsFunc(r.Sessions, func(s discover.Session) bool {
		return s.Agent == stopped.Agent && s.Status.Live() && (s.Dir == stopped.Dir || s.Dir == "") &&
			slices.ContainsFunc(s.Processes, func(q proc.Process) bool {
				begunBefore := s.Created.After(q.Started.Add(-clockTolerance)) && s.Created.Before(p.Started.Add(-clockTolerance))
				return startedBy(q, p) && !begunBefore
			})
	})
}
