package launch

import (
	"context"
	"errors"
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// IsSameRow reports whether two rows of one snapshot are the same: they have one key, and one process if they have no ID.
func IsSameRow(a, b discover.Session) bool {
	return a.Key() == b.Key() && (a.ID != "" || a.SharesProcess(b))
}

// FindAgain finds a session of an earlier snapshot by its identity: its key, or else its ID and a process in common. The
// latter finds a session whose path was not known, or has changed: agents move a session to another directory while they run
// it. A session without an ID is its process. It may have got an ID meanwhile.
func FindAgain(list []discover.Session, s discover.Session) (discover.Session, bool) {
	if i := slices.IndexFunc(list, func(o discover.Session) bool { return IsSameRow(o, s) }); i >= 0 {
		return list[i], true
	}
	found := slices.DeleteFunc(slices.Clone(list), func(o discover.Session) bool {
		return o.Agent != s.Agent || s.ID != "" && o.ID != s.ID || !o.SharesProcess(s)
	})
	if len(found) != 1 {
		return discover.Session{}, false
	}
	return found[0], true
}

// Reread reads a session again. A session that neither a process nor the storage knows any more is stopped. Not known:
// it cannot be told what it is.
func Reread(ctx context.Context, scanner *discover.Scanner, before discover.Session) (now discover.Session, known bool) {
	var r discover.Result
	var err error
	if agents := []discover.Agent{before.Agent}; before.ID == "" {
		r, err = scanner.List(ctx, discover.SessionFilter{Agents: agents, Thorough: true})
	} else {
		r, err = scanner.Find(ctx, before.Argument(), agents, discover.ReadOptions{})
	}
	if s, ok := FindAgain(r.Sessions, before); ok {
		return s, s.Status != discover.Unknown || len(s.Processes) > 0
	}
	// Another process may run it by now, in a place that was not known before.
	elsewhere := slices.ContainsFunc(r.Sessions, func(o discover.Session) bool {
		return before.ID != "" && o.ID == before.ID && (o.Path == "" || before.Path == "") && o.Status != discover.Stopped
	})
	if err != nil && !errors.Is(err, discover.ErrNotFound) || elsewhere {
		return before, false
	}
	return before.Vanished(), true
}

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
