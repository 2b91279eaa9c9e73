package launch

import (
	"context"

	"agentctl/discover"
)

// Attacher is implemented by adapters of agents that run sessions in a background service, and have a client that shows such a
// session in a terminal.
type Attacher interface {
	// AttachCommand returns the client's command for a live session of a home that is ours, whose processes may be sent requests. ok is
	// false if no background service runs the session. It starts nothing, and sends nothing to the service except to find out who
	// listens. Errors: [*NotInstalledError]; [*UnsupportedError], which says why the client cannot reach the service.
	AttachCommand(context.Context, discover.Session, Environment) (command Command, ok bool, err error)
}
