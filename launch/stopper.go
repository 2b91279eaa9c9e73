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
	// NeedsInterrupt reports whether the session has to be ended in the agent's own way, by End: it runs and sends nothing.
	NeedsInterrupt(s discover.Session) bool
	// Interrupt ends the session in the agent's own way, where signalling its process would be wrong: a process that serves
	// several sessions, or one that is started again when it dies. That s.Shared says: its processes serve others, or
	// other sessions than s were found in them. It returns once the agent has taken the order. Not handled: there is no
	// such way for this session, or none is needed. Error: why the agent did not take it.
	Interrupt(ctx context.Context, s discover.Session, host Environment) (handled bool, err error)
	discover.MarkerMatcher
}
