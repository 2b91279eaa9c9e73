package stop

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// execution carries out the plan for one session and records what was done.
type execution struct {
	*run
	plan   *plan
	agents []*agentProcess
	// clients are the processes that show the session, which another process runs.
	clients []*agentProcess
	// request is what became of the request to the agent. interrupted: the session has ended, or is idle in its shared process,
	// because of it.
	request     Request
	interrupted bool
	// err is why the session was not ended, nil if nothing was in the way; a [refusal] if it was refused.
	err error
	// signalled are the signals to tools.
	signalled []SentSignal
	// remaining are the tools that lived at the last scan.
	remaining []proc.Process
	// verified is what the session was then.
	verified verification
}

// newExecution adds the execution of a plan.
func (r *run) newExecution(p *plan) *execution {
	x := &execution{run: r, plan: p}
	for _, process := range p.session.Processes {
		x.agents = append(x.agents, r.agentProcess(process, p.signals))
	}
	for _, process := range p.clients {
		x.clients = append(x.clients, r.agentProcess(process, p.signals))
	}
	r.executions = append(r.executions, x)
	return x
}

// execute carries out the plans, and verifies each: until no process has ended after its tools were last searched.
func (r *run) execute(ctx context.Context) {
	r.each(func(x *execution) {
		if x.plan.ends() {
			x.err = x.endSession(ctx)
		}
	})
	for again := true; again; again = slices.ContainsFunc(r.executions, (*execution).endedLate) {
		r.endTools(ctx)
		r.verify(ctx)
	}
}

// endSession ends the session, but for its tools. The error says why not; it is a [refusal] if the agent has not accepted the
// request to end one of several sessions. If ctx ends there is no error: the verification shows what became of the session.
func (x *execution) endSession(ctx context.Context) error {
	for _, a := range x.agents {
		switch err := a.recordDescendants(ctx); {
		case ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		}
	}
	err := x.interrupt(ctx)
	switch {
	case ctx.Err() != nil:
	case x.interrupted && !x.plan.shared:
		x.awaitExit(ctx)
	case x.interrupted:
		return x.release(ctx)
	case x.Force:
		x.signalAll(ctx)
	case err != nil && x.plan.shared:
		return refusal(fmt.Sprintf("%s, and %v; --force ends the process", x.plan.describeShared(), err))
	case err != nil:
		return err
	case x.request != "": // the verification shows what came of it
	case x.plan.maySignal:
		x.signalAll(ctx)
	default:
		return x.plan.refuseShared() // the agent has found no way to end this one
	}
	return nil
}

// release ends the clients of a session that is in no turn any more, and asks the agent to close the session. It waits until the
// session has ended, if the agent closes it.
func (x *execution) release(ctx context.Context) error {
	signalTogether(ctx, x.clients)
	if slices.ContainsFunc(x.clients, func(c *agentProcess) bool { return !c.gone.Load() }) {
		return nil // the verification shows it
	}
	limited, cancel := context.WithTimeout(ctx, x.Timeout)
	defer cancel()
	session, err := launch.Reachable(x.scanner, x.plan.request(), "stop") // again, because the plan is older
	if err != nil {
		return err
	}
	unloads, err := x.plan.adapter.Unload(limited, session, x.Host)
	switch {
	case ctx.Err() != nil:
	case err != nil:
		return fmt.Errorf("its turn is over, and the request to close it failed: %w", err)
	case unloads:
		x.poll(limited, func(now discover.Session, known bool) bool { return known && now.Status == discover.Stopped })
	}
	return nil
}

// poll reads the session until done accepts it, or ctx ends. It reports whether done has accepted it.
func (x *execution) poll(ctx context.Context, done func(now discover.Session, known bool) bool) bool {
	for {
		began := time.Now()
		if done(launch.Reread(ctx, x.scanner, x.plan.session)) {
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
		a.awaitExit(limited)
	}
}

// signalAll ends the session's processes, all at the same time. Then it waits until no process shows the session: a child
// between fork and exec is a copy of its parent, with the same files open.
func (x *execution) signalAll(ctx context.Context) {
	signalTogether(ctx, slices.Concat(x.agents, x.clients))
	if !x.exited() {
		return
	}
	limited, cancel := context.WithTimeout(ctx, toolGracePeriod)
	defer cancel()
	x.poll(limited, func(now discover.Session, known bool) bool { return !known || now.Status == discover.Stopped })
}

// signalTogether ends processes, all at the same time.
func signalTogether(ctx context.Context, list []*agentProcess) {
	var wg sync.WaitGroup
	for _, a := range list {
		wg.Go(func() { a.end(ctx) })
	}
	wg.Wait()
}

// exited reports whether the session had processes and all of them have ended.
func (x *execution) exited() bool { return allGone(x.agents) }

// isOver reports whether the session has ended, so that none of its tools is to be left.
func (x *execution) isOver() bool {
	return x.plan.stopped || x.plan.ends() && x.err == nil && (x.interrupted || x.exited())
}

// endedLate reports whether an agent's process has ended that was alive when tools were last searched: a signalled process may
// end after the wait for it.
func (x *execution) endedLate() bool {
	return x.plan.ends() && x.err == nil &&
		slices.ContainsFunc(x.agents, func(a *agentProcess) bool { return !a.gone.Load() && !isAlive(a.process.ID) })
}

// Request is what became of the request to the agent to end the session. It is empty if the agent was not asked.
type Request string

// The states of a request.
const (
	// RequestAccepted: the agent has accepted it.
	RequestAccepted Request = "accepted"
	// RequestUnanswered: the agent was asked, and has not answered in time.
	RequestUnanswered Request = "unanswered"
	// RequestFailed: the agent has not accepted it; it may have received the request, or a part of it.
	RequestFailed Request = "failed"
)

// interrupt asks the agent to end the session by its own command or request, if the plan says so. Then it waits until the
// session is over or the timeout expires. The error says why the agent has not accepted the request.
func (x *execution) interrupt(ctx context.Context) error {
	if !x.plan.asks {
		return nil
	}
	session, err := launch.Reachable(x.scanner, x.plan.request(), "stop") // again, because the plan is older
	if err != nil {
		// It was reachable, so that it may be ending because of a request for another of its sessions.
		if x.awaitExit(ctx); x.exited() {
			x.interrupted, err = true, nil
		}
		return err
	}
	limited, cancel := context.WithTimeout(ctx, x.Timeout)
	defer cancel()
	accepted, err := x.plan.adapter.Interrupt(limited, session, x.Host)
	switch {
	case err != nil && limited.Err() != nil:
		x.request = RequestUnanswered
		x.interrupted = x.isInterrupted(launch.Reread(ctx, x.scanner, x.plan.session))
	case err != nil:
		x.request = RequestFailed
		return fmt.Errorf("the request to end it failed: %w", err)
	case accepted:
		x.request = RequestAccepted
		x.interrupted = x.poll(limited, x.isInterrupted)
	}
	return nil
}

// isInterrupted reports whether the session has ended, or is idle in its shared process.
func (x *execution) isInterrupted(now discover.Session, known bool) bool {
	return known && (now.Status == discover.Stopped || now.Status == discover.Idle && x.plan.shared)
}
