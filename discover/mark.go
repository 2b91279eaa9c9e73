package discover

import (
	"context"
	"slices"
	"time"

	"agentctl/proc"
)

// EnvMarker is what an agent leaves in the environment of the processes that it starts, and those in what they start.
type EnvMarker struct {
	// Session is the id of the session that the process was started for, Root of the one that this works for in the end, if
	// it is a sub-agent's; "" where the agent does not say.
	Session, Root string
	// PID is the agent's own process as that sees itself; 0 where the agent does not say.
	PID int
	// OutlivesSession: what bears the mark may serve the sessions that the agent's process goes on to, too.
	OutlivesSession bool
}

// sessions are the ids that the mark names.
func (m EnvMarker) sessions() []string {
	return slices.DeleteFunc([]string{m.Session, m.Root}, func(id string) bool { return id == "" })
}

// MarkedProcess is a live process with the marks of agents.
type MarkedProcess struct {
	proc.Process
	// Orphan: all that its marks name has ended.
	Orphan bool
	// Session is one that it was started for, stopped, of an orphan; without an ID where the agent marks what it starts
	// with its process only.
	Session Session
	marks   []agentMark
}

type agentMark struct {
	EnvMarker
	agent Agent
}

// Related reports whether both were started for one session, or by one process of an agent, as their marks say.
func (b MarkedProcess) Related(o MarkedProcess) bool {
	return slices.ContainsFunc(b.marks, func(m agentMark) bool {
		return slices.ContainsFunc(o.marks, func(n agentMark) bool {
			return m.agent == n.agent && (m.Session != "" && m.Session == n.Session || m.PID > 0 && m.PID == n.PID)
		})
	})
}

// MarkedProcesses finds the live processes that bear agents' marks and are no agents themselves. The result has all live
// sessions, and those stopped ones that a mark names; if there are bearers, those that run no session are among its agents, too. Whether a session has ended that no mark and no storage tells of
// is not guessed: its bearers are no orphans, nor is anybody where processes are out of sight.
func (w *Scanner) MarkedProcesses(ctx context.Context) (Result, []MarkedProcess, error) {
	l := w.newScan(nil)
	if err := l.readLive(ctx, ReadOptions{}); err != nil {
		return Result{}, nil, err
	}
	r := l.result()
	agents := r.AgentProcesses
	var bearers []MarkedProcess
	for p := range r.Table.WithEnv(w.markKeys()...) {
		if !p.Alive() || agents[p.ID] || w.isAgent(p) {
			continue
		}
		if marks := w.marks(p); len(marks) > 0 {
			bearers = append(bearers, MarkedProcess{Process: p, Session: UnknownSession(), marks: marks})
		}
	}
	if len(bearers) == 0 {
		return r, nil, ctx.Err()
	}
	for p := range r.Table.All() {
		if p.Alive() && w.isAgent(p) {
			agents[p.ID] = true
		}
	}
	l.readMarked(ctx, bearers, r.Sessions)
	r = l.result()
	r.AgentProcesses = agents
	for i := range bearers {
		bearers[i].judge(r, l.tableUnreadable || l.inSandbox)
	}
	return r, bearers, ctx.Err()
}

// isAgent reports whether a process is an agent's program.
func (w *Scanner) isAgent(p proc.Process) bool {
	for _, m := range AdaptersWith[MarkerReader](w.Adapters) {
		if m.IsAgentProcess(p) {
			return true
		}
	}
	return false
}

// HasMarkedProcess reports whether any live process bears a mark that names the session.
func (w *Scanner) HasMarkedProcess(table *proc.Table, s Session) bool {
	for p := range table.WithEnv(w.markKeys()...) {
		if p.Alive() && slices.ContainsFunc(w.marks(p), func(m agentMark) bool {
			return m.agent == s.Agent && slices.Contains(m.sessions(), s.ID)
		}) {
			return true
		}
	}
	return false
}

// markKeys are the environment variables that have the marks of all agents.
func (w *Scanner) markKeys() (keys []string) {
	for _, m := range AdaptersWith[MarkerReader](w.Adapters) {
		keys = append(keys, m.MarkerKeys()...)
	}
	return keys
}

// marks are those in the process's environment; one that may not be read, another user's say, has none.
func (w *Scanner) marks(p proc.Process) (marks []agentMark) {
	env, err := p.Env(w.markKeys()...)
	if err != nil || len(env) == 0 {
		return nil
	}
	for agent, m := range AdaptersWith[MarkerReader](w.Adapters) {
		if mark, ok := m.ReadMarker(func(key string) string { return env[key] }); ok {
			marks = append(marks, agentMark{mark, agent})
		}
	}
	return marks
}

// readMarked adds the records of the sessions that marks name, but for those that are known to live.
func (l *scan) readMarked(ctx context.Context, bearers []MarkedProcess, live []Session) {
	refs, homes := map[Agent][]Ref{}, map[Agent][]Home{}
	for _, b := range bearers {
		for _, m := range b.marks {
			for _, id := range m.sessions() {
				known := slices.Contains(refs[m.agent], Ref{ID: id}) ||
					slices.ContainsFunc(live, func(s Session) bool { return s.Agent == m.agent && s.ID == id })
				if !known {
					refs[m.agent], homes[m.agent] = append(refs[m.agent], Ref{ID: id}), l.homes[m.agent]
				}
			}
		}
	}
	l.readRefs(ctx, homes, refs, ReadOptions{})
}

// judge finds out whether all of the marks are of the past. Where so much is out of sight that nobody can tell, none is.
func (b *MarkedProcess) judge(r Result, obscured bool) {
	if obscured {
		return
	}
	for i, m := range b.marks {
		s, over := m.over(r, b.Process)
		if !over {
			b.Session = UnknownSession()
			return
		}
		if i == 0 || b.Session.ID == "" {
			b.Session = s
		}
	}
	b.Orphan = true
}

// over reports whether what the mark names has ended, as its bearer shows it; s is the session, as far as it is known.
func (m agentMark) over(r Result, bearer proc.Process) (s Session, over bool) {
	s = Session{Record: &Record{Agent: m.agent, ID: m.Session}}.Vanished()
	if m.PID > 0 && !ended(r.Table, m.PID, bearer) {
		return s, false
	}
	if m.Session != "" && r.unnamed(m.agent) {
		return s, false
	}
	for _, id := range m.sessions() {
		stored := false
		for _, row := range r.Sessions {
			if row.Agent != m.agent || row.ID != id {
				continue
			}
			if row.Status != Stopped || m.PID == 0 && m.OutlivesSession && r.goesOn(row, bearer) {
				return s, false
			}
			if stored = true; id == m.Session {
				s = row
			}
		}
		if !stored && m.PID == 0 && (r.Table.Hidden() || r.startedBy(bearer)) {
			return s, false
		}
	}
	return s, true
}

// ended reports whether the process has ended that had this pid when it started the bearer. A container's pids are not
// ours, so that nothing is known of them.
func ended(table *proc.Table, pid int, bearer proc.Process) bool {
	if own, err := bearer.NamespacePIDs(); err != nil || len(own) > 1 {
		return false
	}
	p, listed := table.ByPID(pid)
	if !listed {
		return !table.Hidden()
	}
	return !p.Alive() || !older(p, bearer)
}

// unnamed reports whether an agent is at work on nobody knows what: it may be any session.
func (r Result) unnamed(agent Agent) bool {
	return slices.ContainsFunc(r.Sessions, func(s Session) bool {
		return s.Agent == agent && s.ID == "" && s.Status.Live() && s.Status != Idle
	})
}

// startedBy reports whether any agent is old enough to have started the bearer, for a session that it has not stored.
func (r Result) startedBy(bearer proc.Process) bool {
	for id := range r.AgentProcesses {
		if p, ok := r.Table.Find(id); ok && older(p, bearer) {
			return true
		}
	}
	return false
}

// blur is how far a process's start, as the wall clock has it, may be from what an agent noted at that time.
const blur = 2 * time.Second

// goesOn reports whether the process that ran a stopped session when it started the bearer may have gone on to another
// one since: it works in the same place, is old enough, and has not begun, before that, what it works on now.
func (r Result) goesOn(stopped Session, bearer proc.Process) bool {
	return slices.ContainsFunc(r.Sessions, func(s Session) bool {
		return s.Agent == stopped.Agent && s.Status.Live() && (s.Dir == stopped.Dir || s.Dir == "") &&
			slices.ContainsFunc(s.Processes, func(p proc.Process) bool {
				before := s.Created.After(p.Started.Add(-blur)) && s.Created.Before(bearer.Started.Add(-blur))
				return older(p, bearer) && !before
			})
	})
}

// older reports whether p was there when the other one was started.
func older(p, than proc.Process) bool {
	return p.Ticks <= than.Ticks && !p.Started.After(than.Started)
}
