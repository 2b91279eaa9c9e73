package launch

import (
	"context"
	"syscall"

	"agentctl/discover"
)

// Stopper is an adapter that knows how its agent ends.
type Stopper interface {
	// StopSignals are the signals that ask a process of the agent to end, the gentlest first. Each is given its share of the
	// time before the next.
	StopSignals() []syscall.Signal
	// NeedsInterrupt reports whether the session has to be ended in the agent's own way, by Interrupt. It runs and sends nothing.
	NeedsInterrupt(s discover.Session) bool
	// Interrupt ends the session in the agent's own way, where signalling its process would be wrong: a process that serves
	// several sessions, or one that is started again when it dies. s.Shared is set if its processes serve other sessions that
	// are not to be stopped. Interrupt returns once the agent has accepted the request. accepted is false if there is no such
	// way for this session, or none is needed. The error says why the agent did not accept it.
	Interrupt(ctx context.Context, s discover.Session, host Environment) (accepted bool, err error)
	discover.MarkerMatcher
}
