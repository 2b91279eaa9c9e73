package stop

import (
	"context"
	"errors"
	"maps"
	"slices"
	"syscall"
	"time"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/proc"
)

// tool is a process that ended sessions have left behind.
type tool struct {
	proc.Process
	of []*execution
}

// toolSignals is the state of ending tools: which of them have got a signal, and which are not signalled any more.
type toolSignals struct {
	sent, skip map[proc.ID]bool
	// killAt is when SIGKILL follows SIGTERM.
	killAt time.Time
}

// endTools ends the tools of all sessions that are over: by SIGTERM, and by SIGKILL after the grace period. It searches again
// until it finds none.
func (r *run) endTools(ctx context.Context) {
	for _, a := range r.agents {
		a.gone.Store(a.gone.Load() || !isAlive(a.process.ID)) // because it was interrupted, or in the last moment
	}
	signals := &toolSignals{sent: map[proc.ID]bool{}, skip: map[proc.ID]bool{}}
	for range maxToolScans {
		tools := r.findTools(ctx, signals.skip)
		if ctx.Err() != nil {
			last, cancel := finalContext(ctx)
			defer cancel()
			r.findTools(last, signals.skip)
			return
		}
		if len(tools) == 0 {
			return
		}
		if signals.killAt.IsZero() {
			signals.killAt = time.Now().Add(toolGracePeriod)
			if r.orphans {
				signals.killAt = time.Now().Add(r.Timeout)
			}
		}
		r.signalTools(ctx, tools, signals)
	}
	r.findTools(ctx, signals.skip)
}

// signalTools signals each tool once and waits until they are gone, or the grace period is over.
func (r *run) signalTools(ctx context.Context, tools []tool, signals *toolSignals) {
	wait := time.Until(signals.killAt)
	terminate := wait > 0
	if !terminate {
		wait = toolGracePeriod
	}
	var handles []*proc.Handle
	for _, p := range tools {
		sig := syscall.SIGKILL
		if (terminate || r.neverKill()) && !signals.sent[p.ID] {
			sig = syscall.SIGTERM
		}
		signals.sent[p.ID] = true
		h, err := proc.Open(p.ID)
		if err == nil {
			defer h.Close()
			err = sendSignal(h, p.Process, sig)
		}
		switch {
		case err == nil:
			handles = append(handles, h)
			for _, x := range p.of {
				x.signalled = append(x.signalled, SentSignal{p.ID, sig, RoleTool})
			}
		case !errors.Is(err, proc.ErrGone):
			signals.skip[p.ID] = true
		}
	}
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for _, h := range handles {
		_ = h.Wait(limited) // the next search shows whether it is gone
	}
	for _, p := range tools {
		signals.skip[p.ID] = signals.skip[p.ID] || r.neverKill()
	}
}

// neverKill reports whether SIGTERM is all that is sent: nobody knows what an orphan of long ago is in the midst of.
func (r *run) neverKill() bool { return r.orphans && !r.Force }

// findTools finds what is left of the sessions that are over, and returns the processes that are to be ended. Others, and
// those in skip, are only recorded as what remains of their sessions.
func (r *run) findTools(ctx context.Context, skip map[proc.ID]bool) []tool {
	// Orphans of a session that this search finds first are left for the next one.
	over := slices.DeleteFunc(slices.Clone(r.executions), func(x *execution) bool { return !x.isOver() })
	if len(over) == 0 {
		return nil
	}
	now, err := r.findRemaining(ctx)
	if err != nil {
		return nil
	}
	var out []tool
	for p := range now.Table.All() {
		var of []*execution
		for _, x := range over {
			ends := !x.plan.stopped || r.Force || r.orphans
			if ends && slices.ContainsFunc(x.remaining, func(q proc.Process) bool { return q.ID == p.ID }) {
				of = append(of, x)
			}
		}
		if len(of) > 0 && !skip[p.ID] {
			out = append(out, tool{p, of})
		}
	}
	return out
}

// findRemaining records what is left of each session that is over.
func (r *run) findRemaining(ctx context.Context) (discover.Result, error) {
	if r.orphans {
		return r.findOrphans(ctx)
	}
	now, err := r.scanner.List(ctx, discover.SessionFilter{Subagents: true, Thorough: true})
	if err != nil {
		return now, err
	}
	for _, x := range r.executions {
		if x.isOver() {
			x.remaining = x.tools(now)
		}
	}
	return now, nil
}

// tools returns the live processes that provably belong to the session, which is over: the descendants that its processes were
// seen to have while they were alive, the processes whose environment names the session, and the descendants of both.
// Where another live session has the same ID, the environment proves nothing. The result never has
//   - another agent, its ancestors and its descendants,
//   - a process whose environment names another agent's session,
//   - this process and its ancestors,
//   - another user's process.
func (x *execution) tools(now discover.Result) []proc.Process {
	roots := proc.Descendants{}
	if allGone(x.agents) {
		for _, a := range x.agents {
			maps.Copy(roots, a.descendants)
			if a.process.Session == a.process.ID.PID {
				roots[a.process.ID] = a.process // for what is in the kernel session that it led
			}
		}
	}
	otherAgent, users := x.otherAgent(now), x.users(now.Table)
	if !ancestry.HasLiveTwin(now, x.plan.session) {
		for p := range now.Table.All() {
			if p.Alive() && !otherAgent(p) && users[p.UID] && x.hasMarker(p) && !x.isOlder(p) {
				roots[p.ID] = p
			}
		}
	}
	return x.toolsAmong(now, roots)
}

// toolsAmong returns the live processes among the roots and their descendants, but for those that belong to others as well.
func (x *execution) toolsAmong(now discover.Result, roots proc.Descendants) (out []proc.Process) {
	otherAgent, users := x.otherAgent(now), x.users(now.Table)
	roots.Expand(now.Table, otherAgent)
	spared := x.spared(now, roots, otherAgent)
	for p := range now.Table.All() {
		if _, found := roots[p.ID]; found && p.Alive() && users[p.UID] && !spared(p) {
			out = append(out, p)
		}
	}
	return out
}

// otherAgent returns a function that reports whether a process is an agent that does not run the session: an agent below the
// session is a session of its own. The agents above the session do not make its tools theirs.
func (x *execution) otherAgent(now discover.Result) func(proc.Process) bool {
	return func(p proc.Process) bool {
		return now.AgentProcesses[p.ID] && !slices.ContainsFunc(x.agents, func(a *agentProcess) bool {
			return a.ancestors[p.ID] || a.process.ID == p.ID && a.gone.Load()
		})
	}
}

// users are the users whose processes may be ended: those that ran the session, or ours.
func (x *execution) users(table *proc.Table) map[int]bool {
	users := map[int]bool{}
	for _, a := range x.agents {
		users[a.process.UID] = true
	}
	if self, ok := table.ByPID(x.scanner.PID); ok && len(users) == 0 {
		users[self.UID] = true
	}
	return users
}

// hasMarker reports whether the environment of p says that p is the session's. While the session's process lives, it has tools
// of this and of other sessions; then only the session's ID counts.
func (x *execution) hasMarker(p proc.Process) bool {
	session := x.plan.session
	if session.ID == "" {
		session.Record = &discover.Record{ID: "\x00"} // what no environment can hold
	}
	if !allGone(x.agents) {
		session.Processes = nil
	}
	return x.plan.adapter.HasMarker(p, session)
}

// isOlder reports whether a process with the session's marker is older than the session's processes, but was not left behind
// by an earlier one.
func (x *execution) isOlder(p proc.Process) bool {
	if _, left := x.plan.older[p.ID]; left || len(x.plan.session.Processes) == 0 {
		return false
	}
	return ancestry.Predates(p, x.plan.session)
}

// spared returns a function that reports whether a process belongs to others as well.
func (x *execution) spared(now discover.Result, roots proc.Descendants, otherAgent func(proc.Process) bool) func(proc.Process) bool {
	kept := map[proc.ID]bool{}
	if self, ok := now.Table.ByPID(x.scanner.PID); ok {
		addWithAncestors(kept, now.Table, self)
	}
	for id := range now.AgentProcesses {
		if p, ok := now.Table.Find(id); ok && otherAgent(p) {
			addWithAncestors(kept, now.Table, p)
		}
	}
	nested := x.nested(now, roots, otherAgent)
	return func(p proc.Process) bool {
		if kept[p.ID] {
			return true
		}
		for a := range now.Table.Ancestors(p.ID.PID) {
			if x.plan.session.HasProcess(a.ID) {
				break
			}
			if otherAgent(a) {
				return true
			}
		}
		return slices.ContainsFunc(nested, func(s discover.Session) bool { return x.adapterOf(s.Agent).HasMarker(p, s) })
	}
}

// addWithAncestors adds a process and its ancestors: a shell or a launcher that ends would take it along.
func addWithAncestors(set map[proc.ID]bool, table *proc.Table, p proc.Process) {
	set[p.ID] = true
	for a := range table.Ancestors(p.ID.PID) {
		set[a.ID] = true
	}
}

// nested returns the live sessions that were started from within this one. Their tools have this session's markers, too.
func (x *execution) nested(now discover.Result, roots proc.Descendants, otherAgent func(proc.Process) bool) (out []discover.Session) {
	for _, session := range now.Sessions {
		for _, p := range session.Processes {
			if x.plan.session.HasProcess(p.ID) {
				continue
			}
			outside := func(q proc.Process) bool { return q.ID != p.ID && otherAgent(q) }
			if otherAgent(p) && (roots.Includes(now.Table, p, outside) || x.hasMarker(p)) {
				out = append(out, session)
			}
		}
	}
	return out
}

// allGone reports whether there were processes and all of them have ended.
func allGone(agents []*agentProcess) bool {
	return len(agents) > 0 && !slices.ContainsFunc(agents, func(a *agentProcess) bool { return !a.gone.Load() })
}
