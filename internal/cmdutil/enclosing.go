package cmdutil

import (
	"cmp"
	"fmt"
	"slices"

	"agentctl/discover"
	"agentctl/discover/ancestry"
)

// Signature names who declares a lock: the session that we run inside of, which is the nearest, else the person. A
// sub-agent signs for the session that it works for.
func (f Factory) Signature(r discover.Result, nearest []discover.Session) string {
	if len(nearest) == 1 && nearest[0].ID != "" {
		s := discover.RootSession(r.Sessions, nearest[0])
		return string(s.Agent) + "/" + s.ID
	}
	return cmp.Or(f.Getenv("USER"), f.Getenv("LOGNAME"), fmt.Sprintf("uid %d", f.UID))
}

// EnclosingSessions are the session that this command runs inside of; several where they share a process.
func (c *Call) EnclosingSessions(r discover.Result) []discover.Session {
	return ancestry.EnclosingSessions(c.Scanner, r, c.PID, c.Getenv)
}

// Encloses tells the sessions that this command runs inside of: the nearest one, and those around that. Of a process with
// several sessions only the one that called is meant, where that can be told. A sub-agent counts as the session that it
// works for.
func (f Factory) Encloses(r discover.Result, nearest []discover.Session) func(discover.Session) bool {
	var families []discover.Session
	for _, s := range nearest {
		families = append(families, discover.RootSession(r.Sessions, s))
	}
	return func(s discover.Session) bool {
		beside := slices.ContainsFunc(nearest, func(n discover.Session) bool { return s.RunByAny(slices.Values(n.Processes)) })
		if s.ID == "" && beside {
			return true // the nearest one it is: a process without a name has no other
		}
		return Includes(families, discover.RootSession(r.Sessions, s)) || !beside && s.RunByAny(r.Table.Ancestors(f.PID))
	}
}

// OtherUsers reports whether the session is another user's, whose processes we may not signal.
func (f Factory) OtherUsers(r discover.Result, s discover.Session) bool {
	self, ok := r.Table.ByPID(f.PID)
	return ok && self.UID != 0 && len(s.Processes) > 0 && s.Processes[0].UID != self.UID
}

// Includes reports whether a session is among those, by its name or by its process where it has none.
func Includes(list []discover.Session, s discover.Session) bool {
	return slices.ContainsFunc(list, func(o discover.Session) bool {
		return o.Key() == s.Key() && (s.ID != "" || s.RunByAny(slices.Values(o.Processes)))
	})
}
