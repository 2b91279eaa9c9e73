package launch

import (
	"context"
	"syscall"

	"agentctl/discover"
	"agentctl/proc"
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

// Releaser is implemented by a [Stopper] whose agent has servers that keep a session open after its turn, for clients that show it.
// Without it, the clients of a session are those of [discover.Session.Clients], and servers keep their sessions.
type Releaser interface {
	// FindClients returns the processes that show the session to a user while a server runs it, and those that show either this
	// session or another one. It changes nothing. The error says why they cannot be found.
	FindClients(ctx context.Context, s discover.Session, host Environment) (sure, possible []proc.Process, err error)
	// Unload asks the server to close a session that is in no turn and that no client shows. unloads is false if it goes on
	// holding the session; that is no error.
	Unload(ctx context.Context, s discover.Session, host Environment) (unloads bool, err error)
}
