package stop

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// execution carries out the plan for one session and records what was done.
type execution struct {
	*run
	plan   *plan
	agents []*agentProcess
	search *toolSearch
	// accepted: the agent has accepted the request to interrupt the session. interrupted: the session has ended, or is idle in
	// its shared process, because of that.
	accepted, interrupted bool
	// decided says why the session could not be ended, as Refused or Failed; zero if nothing was in the way.
	decided earlyOutcome
	// signalled are the signals to tools.
	signalled []SentSignal
	// remaining are the tools that lived at the last scan.
	remaining []proc.Process
	// sameID are the other sessions with this ID, once they were read; unclear are processes that may be theirs.
	sameID     []discover.Session
	sameIDRead bool
	unclear    []proc.ID
}

// earlyOutcome is an outcome that is final before the session is verified.
type earlyOutcome struct {
	outcome Outcome
	message string
}

func earlyOutcomef(outcome Outcome, format string, args ...any) earlyOutcome {
	return earlyOutcome{outcome, fmt.Sprintf(format, args...)}
}

// newExecution adds the execution of a plan.
func (r *run) newExecution(p *plan) *execution {
	x := &execution{run: r, plan: p}
	for _, process := range p.session.Processes {
		x.agents = append(x.agents, r.agentProcess(process, p.signals))
	}
	x.search = &toolSearch{r, p, x.agents}
	r.executions = append(r.executions, x)
	return x
}

// execute carries out the plans, and verifies each: until no process has ended after its tools were last searched.
func (r *run) execute(ctx context.Context, plans []*plan) []verification {
	for _, p := range plans {
		r.newExecution(p)
	}
	r.each(func(_ int, x *execution) {
		if x.plan.action == actionEnd {
			x.decided = x.endSession(ctx)
		}
	})
	for {
		r.endTools(ctx)
		verified := r.verify(ctx)
		if !slices.ContainsFunc(r.executions, (*execution).endedLate) {
			return verified
		}
	}
}

// endSession ends the session, but for its tools, or says why not.
func (x *execution) endSession(ctx context.Context) earlyOutcome {
	for _, a := range x.agents {
		switch err := a.recordDescendants(ctx); {
		case ctx.Err() != nil:
			return earlyOutcome{}
		case err != nil:
			return earlyOutcomef(Failed, "%v", err)
		}
	}
	err := x.interrupt(ctx)
	var untrusted *discover.UntrustedError
	switch {
	case ctx.Err() != nil:
	case x.interrupted && !x.plan.shared:
		x.awaitExit(ctx)
	case x.interrupted:
	case x.Force, err == nil && !x.accepted && !x.plan.shared:
		x.signalAll(ctx)
	case errors.As(err, &untrusted) && untrusted.Session.Trust == discover.TrustSeen:
		return earlyOutcomef(Refused, "%v (--home %s); --force ends its processes", err, untrusted.Home())
	case errors.As(err, &untrusted), errors.Is(err, errUnreachable):
		return earlyOutcomef(Refused, "%v; --force ends its processes", err)
	case err != nil && !x.plan.shared:
		return earlyOutcomef(Failed, "%v", err)
	case err != nil:
		return earlyOutcomef(Refused, "%s, and %v; --force ends all of it", x.plan.describeShared(), err)
	case x.accepted: // the verification shows what came of it
	default:
		return earlyOutcomef(Refused, "%s; stop them together, or --force ends all of it", x.plan.describeShared())
	}
	return earlyOutcome{}
}

// interrupt asks the agent to end the session by its own command or request, and waits until the session is over or the
// timeout expires. It does nothing for an unidentified session, which no request can name.
func (x *execution) interrupt(ctx context.Context) (err error) {
	request := x.plan.request()
	if request.ID == "" || !x.plan.stopper.NeedsInterrupt(request) {
		return nil
	}
	if request, err = x.reachable(request); err != nil {
		return err
	}
	limited, cancel := context.WithTimeout(ctx, x.Timeout)
	defer cancel()
	if x.accepted, err = x.plan.stopper.Interrupt(limited, request, x.Host); err != nil || !x.accepted {
		return err
	}
	x.interrupted = x.poll(limited, func(now discover.Session, known bool) bool {
		return known && (now.Status == discover.Stopped || now.Status == discover.Idle && x.plan.shared)
	})
	return nil
}

// reachable is the session with those of its processes that may be sent a request. No command, request or password goes to
// a session of a home that nobody of ours names, to another user's process, or to one in another namespace, whose ports
// and paths are others here. Errors: [*discover.UntrustedError], [errUnreachable].
func (x *execution) reachable(s discover.Session) (discover.Session, error) {
	if err := s.CheckTrust("stop"); err != nil {
		return s, err
	}
	s.Processes = slices.DeleteFunc(slices.Clone(s.Processes), func(p proc.Process) bool { return !x.scanner.Reachable(p) })
	if len(s.Processes) == 0 {
		return s, errUnreachable
	}
	return s, nil
}

// errUnreachable: nothing is sent to a process that is another user's or in another namespace.
var errUnreachable = errors.New("its process belongs to another user or is in another namespace, and is not asked")

// poll reads the session until done accepts it, or ctx ends. It reports whether done has accepted it.
func (x *execution) poll(ctx context.Context, done func(now discover.Session, known bool) bool) bool {
	for {
		began := time.Now()
		if done(readSession(ctx, x.scanner, x.plan.session)) {
			return true
		}
		// On a busy machine reading takes long, and polling must not make it busier.
		pause := time.NewTimer(min(max(3*time.Since(began), minPollInterval), maxPollInterval))
		select {
		case <-ctx.Done():
			return false
		case <-pause.C:
		}
	}
}

// awaitExit waits for the end of processes that were interrupted. A process that is about to end shows no session any more,
// but its tools are known to be left behind only once it is gone.
func (x *execution) awaitExit(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, toolGracePeriod)
	defer cancel()
	for _, a := range x.agents {
		h, err := proc.Open(a.process.ID)
		if err != nil {
			a.gone = errors.Is(err, proc.ErrGone)
			continue
		}
		a.wait(limited, h)
		_ = h.Close() // nothing is lost
	}
}

// signalAll ends the session's processes, all at the same time. Then it waits until no process shows the session: a child
// between fork and exec is a copy of its parent, with the same files open.
func (x *execution) signalAll(ctx context.Context) {
	var wg sync.WaitGroup
	for _, a := range x.agents {
		wg.Go(func() { a.end(ctx) })
	}
	wg.Wait()
	if !x.exited() {
		return
	}
	limited, cancel := context.WithTimeout(ctx, toolGracePeriod)
	defer cancel()
	x.poll(limited, func(now discover.Session, known bool) bool { return !known || now.Status == discover.Stopped })
}

// exited reports whether the session had processes and all of them have ended.
func (x *execution) exited() bool { return allGone(x.agents) }

// isOver reports whether the session has ended, so that none of its tools is to be left.
func (x *execution) isOver() bool {
	switch x.plan.action {
	case actionNone:
		return true
	case actionEnd:
		return x.decided == earlyOutcome{} && (x.interrupted || x.exited())
	}
	return false
}

// endedLate reports whether an agent's process has ended that was alive when tools were last searched: a signalled process may
// end after the wait for it.
func (x *execution) endedLate() bool {
	return x.plan.action == actionEnd && x.decided == earlyOutcome{} &&
		slices.ContainsFunc(x.agents, func(a *agentProcess) bool { return !a.gone && !isAlive(a.process.ID) })
}
