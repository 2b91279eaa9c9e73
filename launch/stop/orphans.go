package stop

import (
	"context"
	"slices"
	"sort"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/proc"
)

// Orphan is a process that a session has left behind.
type Orphan struct {
	proc.Process
	// Session is stopped; it has no ID where the agent marks what it starts with its process only.
	Session discover.Session
}

// FindOrphans finds the processes of our user that sessions have left behind, by ascending pid: those with agents' environment markers,
// all of which name sessions that have ended, and their descendants. They never include
//   - an agent, its ancestors and its descendants,
//   - a process with the marker of a live session, or with a marker that this process has too,
//   - this process and its ancestors.
//
// The result's warnings say what could not be read.
func FindOrphans(ctx context.Context, scanner *discover.Scanner, agents []discover.Agent) ([]Orphan, discover.Result, error) {
	r := &run{scanner: scanner, orphans: true, only: agents}
	now, err := r.findOrphans(ctx)
	var list []Orphan
	for _, x := range r.executions {
		for _, p := range x.remaining {
			list = append(list, Orphan{p, x.plan.session})
		}
	}
	sort.Slice(list, func(i, j int) bool { return list[i].ID.PID < list[j].ID.PID })
	return list, now, err
}

// findOrphans records what is left behind by now, with one execution for each session. An execution stays as long as the
// session has orphans or any of them was signalled.
func (r *run) findOrphans(ctx context.Context) (discover.Result, error) {
	now, marked, err := ancestry.MarkedProcesses(ctx, r.scanner)
	if err != nil {
		return now, err
	}
	roots, owners, others := map[*execution]proc.Descendants{}, map[proc.ID]*execution{}, map[proc.ID]bool{}
	// If this process runs for a session that looks ended, the session's agent may be hidden (in a sandbox), or its tool may be
	// a terminal multiplexer in use.
	self := slices.IndexFunc(marked, func(m ancestry.MarkedProcess) bool { return m.ID.PID == r.scanner.PID })
	for _, m := range marked {
		if !m.Orphan || self >= 0 && m.Related(marked[self]) {
			others[m.ID] = true
			continue
		}
		x := r.orphanExecution(m.Session)
		if roots[x] == nil {
			roots[x] = proc.Descendants{}
		}
		roots[x][m.ID], owners[m.ID] = m.Process, x
	}
	for _, x := range r.executions {
		x.remaining = slices.DeleteFunc(x.toolsAmong(now, roots[x]), func(p proc.Process) bool {
			return others[p.ID] || owners[p.ID] != nil && owners[p.ID] != x
		})
		for _, p := range x.remaining {
			owners[p.ID] = x // a descendant of several is the first one's
		}
	}
	r.executions = slices.DeleteFunc(r.executions, func(x *execution) bool {
		return len(x.remaining)+len(x.signalled) == 0 || len(r.only) > 0 && !slices.Contains(r.only, x.plan.session.Agent)
	})
	return now, nil
}

// orphanExecution returns the execution for a stopped session.
func (r *run) orphanExecution(session discover.Session) *execution {
	i := slices.IndexFunc(r.executions, func(x *execution) bool { return x.plan.session.Key() == session.Key() })
	if i >= 0 {
		return r.executions[i]
	}
	x := &execution{run: r, plan: &plan{session: session, adapter: r.adapterOf(session.Agent), stopped: true}}
	r.executions = append(r.executions, x)
	return x
}
