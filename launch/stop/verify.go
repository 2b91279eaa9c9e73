package stop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// verification is what a session is after the execution of its plan.
type verification struct {
	// session is valid if known.
	session discover.Session
	known   bool
	// cancelled: the caller's context had ended.
	cancelled bool
	// clients show the session still, or may, of those whose turn was interrupted in a shared process; clientsErr says why they are not
	// known.
	clients    []proc.Process
	clientsErr error
}

// verify reads all sessions again, at the same time.
func (r *run) verify(ctx context.Context) {
	r.each(func(x *execution) {
		v := &x.verified
		*v = verification{}
		v.session, v.known = launch.Reread(ctx, r.scanner, x.plan.session)
		if v.cancelled = ctx.Err() != nil; v.cancelled {
			last, cancel := finalContext(ctx)
			defer cancel()
			v.session, v.known = launch.Reread(last, r.scanner, x.plan.session)
		}
		if v.known && x.interrupted && x.plan.shared && v.session.Status == discover.Idle && !v.cancelled {
			x.findClients(ctx)
		}
	})
}

// finalContext is a context to read the final state in, though ctx has ended.
func finalContext(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), finalReadTimeout)
}

// describe fills in what became of the session.
func (x *execution) describe(result *Result) {
	result.Request = x.request
	if v := &x.verified; v.known && (v.session.ID != "" || v.session.Status != discover.Stopped) {
		result.After = &v.session
	}
	for _, a := range slices.Concat(x.clients, x.agents) {
		for _, s := range a.sent {
			if s.Role = RoleAgent; slices.Contains(x.clients, a) {
				s.Role = RoleClient
			}
			result.Signalled = append(result.Signalled, s)
		}
		if len(a.sent) > 0 && !a.gone.Load() {
			result.Survived = append(result.Survived, a.process.ID)
		}
	}
	agentsLeft := len(result.Survived) > 0
	result.Signalled = append(result.Signalled, x.signalled...)
	result.Survived = append(result.Survived, idsOf(x.remaining)...)
	switch {
	case x.plan.refusal != nil:
		result.Outcome, result.Message = Refused, x.plan.refusal.Error()
	case x.plan.stopped:
		result.Outcome, result.Message = x.remainingTools()
	case x.err != nil:
		result.Outcome, result.Message = Failed, x.err.Error()
		if _, refused := errors.AsType[refusal](x.err); refused {
			result.Outcome = Refused
		}
	default:
		result.Outcome, result.Message = x.outcome(agentsLeft, len(result.Signalled) > 0)
	}
}

// outcome is what became of a session that was to be ended. agentsLeft: a signalled agent process lives.
func (x *execution) outcome(agentsLeft, signalled bool) (Outcome, string) {
	v := &x.verified
	status := v.session.Status
	// A process that has not ended yet may show the session no more.
	stopped := status == discover.Stopped && !agentsLeft
	idle := x.interrupted && status == discover.Idle
	err := x.signalError()
	switch {
	case err != nil:
		return Failed, err.Error()
	case !v.known:
		return Failed, "its status is not known"
	case (stopped || idle) && len(x.remaining) > 0:
		return Failed, fmt.Sprintf("it is %s, but %s", status, describeTools(x.remaining))
	case stopped:
		return Stopped, ""
	case idle && x.plan.shared && v.clientsErr != nil:
		return Failed, fmt.Sprintf("its turn is over, and which terminals show it cannot be found: %v", v.clientsErr)
	case idle && x.plan.shared && len(v.clients) == 0:
		return Released, fmt.Sprintf("%s keeps it open; no terminal shows it", v.session.Processes[0].ID)
	case idle && x.plan.shared && !agentsLeft:
		return Running, "its turn is over, but it is still shown in " + joinFunc(v.clients, ", or ", describeTerminal) +
			": quit it there, or stop it again"
	}
	return Running, x.whyRunning(signalled)
}

// findClients finds the processes that show the session, or may.
func (x *execution) findClients(ctx context.Context) {
	limited, cancel := context.WithTimeout(ctx, x.Timeout)
	defer cancel()
	v := &x.verified
	session, err := launch.Reachable(x.scanner, v.session, "stop")
	if err == nil {
		var sure, possible []proc.Process
		sure, possible, err = x.plan.adapter.FindClients(limited, session, x.Host)
		v.clients = slices.Concat(sure, possible)
	}
	v.clientsErr = err
}

// signalError is why a process could not be signalled, nil if all that live could.
func (x *execution) signalError() error {
	for _, a := range slices.Concat(x.clients, x.agents) {
		if a.err != nil && !a.gone.Load() {
			return a.err
		}
	}
	return nil
}

// whyRunning says why the session still runs.
func (x *execution) whyRunning(signalled bool) string {
	v, pid := &x.verified, x.agents[0].process.ID.String()
	if len(v.session.Processes) > 0 {
		pid = v.session.Processes[0].ID.String()
	}
	switch {
	case v.cancelled && x.request == "" && !signalled:
		return "nothing was done"
	case v.cancelled:
		return "not waited for"
	case x.exited():
		return fmt.Sprintf("%s runs it now", pid)
	case x.Force:
		return fmt.Sprintf("%s has not ended after SIGKILL", pid)
	case x.request == RequestUnanswered:
		return fmt.Sprintf("%s was asked to end it, and has not answered within %s", pid, x.Timeout)
	case x.request != "":
		return fmt.Sprintf("%s has accepted the request to end, but still runs it after %s", pid, x.Timeout)
	}
	return fmt.Sprintf("%s has not ended within %s; --force kills it", pid, x.Timeout)
}

// remainingTools is the outcome of a session that was stopped before, with what its tools are now.
func (x *execution) remainingTools() (Outcome, string) {
	switch {
	case len(x.remaining) == 0:
		return AlreadyStopped, ""
	case x.Force:
		return Failed, describeTools(x.remaining)
	case x.orphans:
		return Failed, fmt.Sprintf("%s after %s; --force kills", describeTools(x.remaining), x.Timeout)
	}
	return AlreadyStopped, describeTools(x.remaining) + "; --force ends what it has left behind"
}

// describeTools names the tools that still run.
func describeTools(list []proc.Process) string {
	ids := joinFunc(idsOf(list), ", ", proc.ID.String)
	if len(list) == 1 {
		return "its tool " + ids + " still runs"
	}
	return "its tools " + ids + " still run"
}
