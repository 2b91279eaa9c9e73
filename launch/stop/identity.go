package stop

import (
	"errors"
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// sameSession reports whether two rows are one session: they have one agent, one ID and one path, or, where the ID or a path
// is not known, a process in common.
func sameSession(a, b discover.Session) bool {
	switch {
	case a.Agent != b.Agent || a.ID != b.ID:
		return false
	case a.ID == "":
		return a.SharesProcess(b)
	}
	return a.Path == b.Path || (a.Path == "" || b.Path == "") && a.SharesProcess(b)
}

// findSession finds a session of an earlier snapshot by its identity. Where a path is not known and no process of the session
// is left, the agent and the ID identify it if only one row has them.
func findSession(list []discover.Session, s discover.Session) (discover.Session, bool) {
	if i := slices.IndexFunc(list, func(o discover.Session) bool { return sameSession(o, s) }); i >= 0 {
		return list[i], true
	}
	var found []discover.Session
	for _, o := range list {
		if s.ID != "" && o.Agent == s.Agent && o.ID == s.ID {
			found = append(found, o)
		}
	}
	if len(found) == 1 && (s.Path == "" || found[0].Path == "") {
		return found[0], true
	}
	return discover.Session{}, false
}

// isAlive reports whether a process has not ended. A process that cannot be read counts as alive.
func isAlive(id proc.ID) bool {
	now, err := proc.Inspect(id.PID)
	return err == nil && now.ID == id && now.Alive() || err != nil && !errors.Is(err, proc.ErrGone)
}
