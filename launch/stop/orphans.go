package stop

import (
	"context"
	"slices"

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
//   - a process with the marker of a live session, or with a marker that the process self has too,
//   - the process self and its ancestors.
//
// The result's warnings say what could not be read.
func FindOrphans(ctx context.Context, world *discover.Scanner, self int, agents []discover.Agent) ([]Orphan, discover.Result, error) {
	s := orphanage(world, Options{SelfPID: self}, agents)
	now, err := s.leaveOrphans(ctx)
	var list []Orphan
	for _, t := range s.targets {
		for _, p := range t.below {
			list = append(list, Orphan{p, t.Before})
		}
	}
	slices.SortFunc(list, func(a, b Orphan) int { return a.ID.PID - b.ID.PID })
	return list, now, err
}

// EndOrphans ends what [FindOrphans] finds: it is asked to, and what does not end in time is killed with [Options.Force]
// only. There is one result a session. If ctx ends, no more is done, and the results say what was.
func EndOrphans(ctx context.Context, world *discover.Scanner, o Options, agents []discover.Agent) ([]Result, discover.Result, error) {
	s := orphanage(world, o, agents)
	now, err := s.leaveOrphans(ctx)
	if err != nil {
		return nil, now, err
	}
	if o.DryRun {
		for _, t := range s.targets {
			t.Outcome, t.Message = Planned, terminated(idsOf(t.below))
		}
	} else {
		s.endTools(ctx)
		s.eachTarget(func(t *target) { t.see(ctx); t.conclude() })
	}
	return s.results(), now, nil
}

func orphanage(world *discover.Scanner, o Options, agents []discover.Agent) *stopping {
	return &stopping{world: world, Options: o, orphans: true, of: agents}
}

// leaveOrphans finds what is left behind by now, and makes targets of the sessions.
func (s *stopping) leaveOrphans(ctx context.Context) (discover.Result, error) {
	now, bearers, err := ancestry.MarkedProcesses(ctx, s.world)
	if err != nil {
		return now, err
	}
	left, seeds, others := map[*target]proc.Descendants{}, map[proc.ID]*target{}, map[proc.ID]bool{}
	// Where we run ourselves for a session that looks dead, its agent may be out of our sight (in a sandbox), or its tool a
	// terminal multiplexer with a person in it.
	self := slices.IndexFunc(bearers, func(b ancestry.MarkedProcess) bool { return b.ID.PID == s.SelfPID })
	for _, b := range bearers {
		if !b.Orphan || self >= 0 && b.Related(bearers[self]) {
			others[b.ID] = true
			continue
		}
		t := s.orphaned(b.Session)
		if left[t] == nil {
			left[t] = proc.Descendants{}
		}
		left[t][b.ID], seeds[b.ID] = b.Process, t
	}
	for _, t := range s.targets {
		t.below = slices.DeleteFunc(t.remains(now, left[t]), func(p proc.Process) bool {
			return others[p.ID] || seeds[p.ID] != nil && seeds[p.ID] != t
		})
		for _, p := range t.below {
			seeds[p.ID] = t // what descends from several is the first one's
		}
	}
	s.targets = slices.DeleteFunc(s.targets, func(t *target) bool {
		return len(t.below)+len(t.Signalled) == 0 || len(s.of) > 0 && !slices.Contains(s.of, t.Before.Agent)
	})
	return now, nil
}

// orphaned is the target of a stopped session.
func (s *stopping) orphaned(session discover.Session) *target {
	i := slices.IndexFunc(s.targets, func(t *target) bool { return t.Before.Key() == session.Key() })
	if i >= 0 {
		return s.targets[i]
	}
	t := &target{stopping: s, stopper: s.stopperOf(session.Agent), session: session}
	t.Before, t.Outcome = session, AlreadyStopped
	s.targets = append(s.targets, t)
	return t
}
