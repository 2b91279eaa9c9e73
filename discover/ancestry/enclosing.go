package ancestry

import (
	"slices"

	"agentctl/discover"
)

// Enclosing are the sessions that a process runs inside of.
type Enclosing struct {
	// Nearest is the innermost one; several where they share a process and none is known to be the caller.
	Nearest []discover.Session
	roots   []discover.Session // of Nearest
	result  discover.Result
	pid     int
}

// FindEnclosing returns the sessions of r that the process with this pid runs inside of. The conditions of
// [EnclosingSessions] apply.
func FindEnclosing(scanner *discover.Scanner, r discover.Result, pid int, getenv func(string) string) Enclosing {
	e := Enclosing{Nearest: EnclosingSessions(scanner, r, pid, getenv), result: r, pid: pid}
	for _, s := range e.Nearest {
		e.roots = append(e.roots, discover.RootSession(r.Sessions, s))
	}
	return e
}

// Contains reports whether the process runs inside of a session: the nearest one, or one around that. Of several sessions of
// one process only the caller counts, if it is known. A sub-agent counts as its root session.
func (e Enclosing) Contains(s discover.Session) bool {
	shares := slices.ContainsFunc(e.Nearest, func(n discover.Session) bool { return s.RunByAny(slices.Values(n.Processes)) })
	if s.ID == "" && shares {
		return true // the nearest one it is: a process without a name has no other
	}
	return discover.ContainsSession(e.roots, discover.RootSession(e.result.Sessions, s)) || !shares && s.RunByAny(e.result.Table.Ancestors(e.pid))
}
