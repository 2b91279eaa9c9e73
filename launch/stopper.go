package launch

import (
	"context"
	"syscall"

	"agentctl/discover"
	"agentctl/proc"
)

// Stopper is an adapter that knows how its agent ends.
type Stopper interface {
	// Gentle are the signals that ask a process of the agent to end, the gentlest first. Each is given its share of the
	// time before the next.
	Gentle() []syscall.Signal
	// Asks reports whether the session has to be ended in the agent's own way, by End: it runs and sends nothing.
	Asks(s discover.Session) bool
	// End ends the session in the agent's own way, where signalling its process would be wrong: a process that serves
	// several sessions, or one that is started again when it dies. That s.Shared says: its processes serve others, or
	// other sessions than s were found in them. It returns once the agent has taken the order. Not handled: there is no
	// such way for this session, or none is needed. Error: why the agent did not take it.
	End(ctx context.Context, s discover.Session, host Host) (handled bool, err error)
	// Marked reports whether the environment of p says that it was started by the session, or by one of the session's
	// processes. The session may be one that has just ended; its processes are those it had.
	Marked(p proc.Process, s discover.Session) bool
}
