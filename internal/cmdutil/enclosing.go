package cmdutil

import (
	"cmp"
	"fmt"
	"slices"

	"agentctl/discover"
	"agentctl/discover/ancestry"
)

// Signature names the owner of a lock that this command declares: the nearest session around it, as AGENT/ID, else the
// user. A sub-agent signs for its root session.
func (f Factory) Signature(r discover.Result, nearest []discover.Session) string {
	if len(nearest) == 1 && nearest[0].ID != "" {
		s := discover.RootSession(r.Sessions, nearest[0])
		return string(s.Agent) + "/" + s.ID
	}
	return cmp.Or(f.Getenv("USER"), f.Getenv("LOGNAME"), fmt.Sprintf("uid %d", f.UID))
}

// EnclosingSessions returns the nearest session that this command runs inside; several where they share a process.
func (c *Call) EnclosingSessions(r discover.Result) []discover.Session {
	return ancestry.EnclosingSessions(c.Scanner, r, c.PID, c.Getenv)
}

// Encloses returns a function that reports whether this command runs inside a session: the nearest one, or one around
// that. Of several sessions of one process only the caller counts, if it is known. A sub-agent counts as its root session.
func (f Factory) Encloses(r discover.Result, nearest []discover.Session) func(discover.Session) bool {
	var families []discover.Session
	for _, s := range nearest {
		families = append(families, discover.RootSession(r.Sessions, s))
	}
	return func(s discover.Session) bool {
		shares := slices.ContainsFunc(nearest, func(n discover.Session) bool { return s.RunByAny(slices.Values(n.Processes)) })
		if s.ID == "" && shares {
			return true // the nearest one it is: a process without a name has no other
		}
		return Includes(families, discover.RootSession(r.Sessions, s)) || !shares && s.RunByAny(r.Table.Ancestors(f.PID))
	}
}

// OtherUsers reports whether the session is another user's, whose processes this user may not signal.
func (f Factory) OtherUsers(r discover.Result, s discover.Session) bool {
	self, ok := r.Table.ByPID(f.PID)
	return ok && self.UID != 0 && len(s.Processes) > 0 && s.Processes[0].UID != self.UID
}

// Includes reports whether the list has a session, compared by key, and by process if it has no ID.
func Includes(list []discover.Session, s discover.Session) bool {
	return slices.ContainsFunc(list, func(o discover.Session) bool {
		return o.Key() == s.Key() && (s.ID != "" || s.RunByAny(slices.Values(o.Processes)))
	})
}
