// Package stop ends sessions, and tells what is true of them afterwards. It knows no agent: how an agent ends is its
// adapter's to say ([launch.Stopper]).
//
// A session is ended in steps. Where its process serves other sessions, or would be started again, the agent is asked in
// its own way. Otherwise what it has started is noted, its process is asked to end by the signals that the agent takes
// for that, and once it is gone the tools it has left behind are ended. Every process is held on to by its identity, so
// that no signal reaches another one with its pid. What the result says is looked up again at the end.
package stop

import (
	"context"
	"slices"
	"sync"
	"syscall"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// Options say how far to go.
type Options struct {
	// Timeout is how long an agent may take: to end by the signals that ask it to, which share the time, or in its own way.
	Timeout time.Duration
	// Force also signals processes that serve other sessions, kills what does not end, and ends what stopped sessions
	// have left behind.
	Force bool
	// DryRun only says what would be done.
	DryRun bool
	// SelfPID is our own process: it and those it runs below of are no tools to be ended.
	SelfPID int
	// Host is the environment in which an agent's own commands run.
	Host launch.Environment
}

// Outcome is what became of a session.
type Outcome string

// The outcomes.
const (
	// Stopped: no process runs it any more, and its tools are gone.
	Stopped Outcome = "stopped"
	// AlreadyStopped: no process ran it.
	AlreadyStopped Outcome = "already_stopped"
	// Interrupted: its turn is over and its tools are gone; the process serves other sessions, or waits for them.
	Interrupted Outcome = "interrupted"
	// Running: it still runs.
	Running Outcome = "running"
	// Refused: nothing was done, for what it would have done to others.
	Refused Outcome = "refused"
	// Failed: it could not be done.
	Failed Outcome = "failed"
	// Planned: nothing was done; it is what would have been tried.
	Planned Outcome = "planned"
)

// Role is what a signalled process is to the session.
type Role string

// The roles.
const (
	RoleAgent Role = "agent"
	RoleTool  Role = "tool"
)

// SentSignal is a signal that was sent.
type SentSignal struct {
	Process proc.ID
	Signal  syscall.Signal
	Role    Role
}

// Result is what became of one session.
type Result struct {
	// Before is the session as it was chosen, After as it is now; nil if there is nothing left to see of it.
	Before  discover.Session
	After   *discover.Session
	Outcome Outcome
	// Message says more, "" if there is nothing to say.
	Message   string
	Signalled []SentSignal
	// LeftBehind are the processes that an earlier process of the session has left behind, with what those have started: they
	// are ended with the session's tools.
	LeftBehind []proc.ID
	// Survived are its processes that live all the same.
	Survived []proc.ID
}

// Sessions stops the chosen sessions, all at the same time. Each has its result, in their order. If ctx ends, no more is
// done, and the results say what was. The error is about the process table, and nothing was done then.
func Sessions(ctx context.Context, world *discover.Scanner, chosen []discover.Session, o Options) ([]Result, error) {
	now, err := world.List(ctx, discover.SessionFilter{Subagents: true})
	if err != nil {
		return nil, err
	}
	now.Table.LoadAll() // before anything ends
	chosen = slices.Clone(chosen)
	s := &stopping{world: world, now: now, Options: o, chosen: chosen, agents: map[proc.ID]*agent{}}
	for i, session := range chosen {
		chosen[i] = s.asOfNow(session)
	}
	for _, session := range chosen {
		s.targets = append(s.targets, s.target(session))
	}
	s.findLeftBehind(ctx)
	if o.DryRun {
		s.eachTarget(func(t *target) { t.planLeftBehind() })
	} else {
		s.eachTarget(func(t *target) { t.end(ctx) })
		for again := true; again; again = s.endedLate() {
			s.endTools(ctx)
			s.eachTarget(func(t *target) { t.see(ctx) })
		}
		s.eachTarget(func(t *target) { t.conclude() })
	}
	return s.results(), nil
}

// stopping is one call of Sessions.
type stopping struct {
	Options
	world *discover.Scanner
	// now is what runs, as it was before anything was done.
	now     discover.Result
	chosen  []discover.Session
	targets []*target
	agents  map[proc.ID]*agent // the targets' processes
	// orphans: all that is to be ended are processes that sessions have left behind.
	orphans bool
	of      []discover.Agent // whose they are; empty: anybody's
}

// asOfNow is a chosen session as it is now: it may have been chosen a while ago, and its process be another session's.
func (s *stopping) asOfNow(session discover.Session) discover.Session {
	for _, n := range s.now.Sessions {
		if same(n, session) {
			return n
		}
	}
	return session
}

func (s *stopping) eachTarget(do func(*target)) {
	var wg sync.WaitGroup
	for _, t := range s.targets {
		wg.Go(func() { do(t) })
	}
	wg.Wait()
}

func (s *stopping) results() (list []Result) {
	for _, t := range s.targets {
		list = append(list, t.Result)
	}
	return list
}

// stopperOf is how the agent's adapter says that it ends.
func (s *stopping) stopperOf(name discover.Agent) launch.Stopper {
	if st, ok := discover.AdapterWith[launch.Stopper](s.world.Adapters, name); ok {
		return st
	}
	return plain{}
}

// plain is an agent of which nothing special is known.
type plain struct{}

func (plain) StopSignals() []syscall.Signal { return []syscall.Signal{syscall.SIGTERM} }

func (plain) NeedsInterrupt(discover.Session) bool { return false }

func (plain) Interrupt(context.Context, discover.Session, launch.Environment) (bool, error) {
	return false, nil
}

func (plain) HasMarker(proc.Process, discover.Session) bool { return false }
