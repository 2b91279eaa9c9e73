package launch

import (
	"errors"
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// ErrUnreachable: nothing is sent to a process that is another user's or in another namespace.
var ErrUnreachable = errors.New("its process belongs to another user or is in another namespace, and is sent nothing")

// Reachable returns the session with those of its processes that may be sent something. No command, request, message or
// password goes to a session whose home is not [discover.TrustOurs], to another user's process, or to one in another namespace,
// whose ports and paths are others here. action is what is to be done, as in "stop". Errors: [*discover.UntrustedError],
// [ErrUnreachable].
func Reachable(scanner *discover.Scanner, s discover.Session, action string) (discover.Session, error) {
	if err := s.CheckTrust(action); err != nil {
		return s, err
	}
	s.Processes = slices.DeleteFunc(slices.Clone(s.Processes), func(p proc.Process) bool { return !scanner.Reachable(p) })
	if len(s.Processes) == 0 {
		return s, ErrUnreachable
	}
	return s, nil
}
