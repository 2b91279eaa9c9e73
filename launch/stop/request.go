package stop

import (
	"context"
	"fmt"

	"agentctl/discover"
	"agentctl/launch"
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
