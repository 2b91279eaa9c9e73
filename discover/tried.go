package discover

import "context"

// FormatChecker is implemented by adapters that can tell whether their agent has changed since they were tried with it.
type FormatChecker interface {
	// NewestTried is the newest version of the agent in docs/support.md.
	NewestTried() string
	// UntriedVersion returns the version of the agent that runs a live session, if it is newer; else "".
	UntriedVersion(Session) string
	// UnknownKinds returns the kinds that the adapter does not know among a session's newest records. It reads a bounded part of
	// them. What has vanished is no error.
	UnknownKinds(context.Context, Record) ([]string, error)
}

// UnknownKinds returns the kinds that the session's adapter does not know among the session's newest records. The error is a
// [Warning].
func (scanner *Scanner) UnknownKinds(ctx context.Context, s Session) ([]string, error) {
	c, ok := AdapterWith[FormatChecker](scanner.Adapters, s.Agent)
	if !ok || s.Path == "" {
		return nil, nil
	}
	return c.UnknownKinds(confineToSession(ctx, s), *s.Record)
}
