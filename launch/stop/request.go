package stop

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

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
	session, err := x.reachable(x.plan.request()) // again, because the plan is older
	if err != nil {
		// It was reachable, so that it may be ending because of a request for another of its sessions.
		if x.awaitExit(ctx); x.exited() {
			x.interrupted, err = true, nil
		}
		return err
	}
	limited, cancel := context.WithTimeout(ctx, x.Timeout)
	defer cancel()
	accepted, err := x.plan.stopper.Interrupt(limited, session, x.Host)
	switch {
	case err != nil && limited.Err() != nil:
		x.request = RequestUnanswered
		x.interrupted = x.isInterrupted(readSession(ctx, x.scanner, x.plan.session))
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

// reachable is the session with those of its processes that may be sent a request. No command, request or password goes to
// a session of a home that nobody of ours names, to another user's process, or to one in another namespace, whose ports
// and paths are others here. Errors: [*discover.UntrustedError], [errUnreachable].
func (r *run) reachable(s discover.Session) (discover.Session, error) {
	if err := s.CheckTrust("stop"); err != nil {
		return s, err
	}
	s.Processes = slices.DeleteFunc(slices.Clone(s.Processes), func(p proc.Process) bool { return !r.scanner.Reachable(p) })
	if len(s.Processes) == 0 {
		return s, errUnreachable
	}
	return s, nil
}

// errUnreachable: nothing is sent to a process that is another user's or in another namespace.
var errUnreachable = errors.New("its process belongs to another user or is in another namespace, and is not asked")
