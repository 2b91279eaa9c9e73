// Package ancestry finds out which processes belong to which session by their ancestors, the environment markers of the
// agents and the sandboxes that they run in: the process tree of a session, the processes that ended sessions left behind,
// and the session around a process.
package ancestry

import (
	"context"
	"iter"
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// Current returns the session that the process with this pid runs inside of: that of its nearest ancestor which runs any.
// Where that process runs several, the environment marker of the process decides, if the ancestor does run the session
// that the marker names. Where a sandbox hides the agent or its open files, the marker alone names the session. Errors:
// [discover.ErrNotFound], [*discover.AmbiguousError].
func Current(ctx context.Context, scanner *discover.Scanner, pid int, getenv func(string) string) (discover.Result, error) {
	scan, err := scanner.ScanLive(ctx)
	if err != nil {
		return discover.Result{}, err
	}
	r := scan.Result()
	if r.ProcessesUnknown {
		return discover.Result{}, r.Warnings[0]
	}
	if claim, ok := claimFromMarker(scanner, r, pid, getenv); ok {
		scan.AddClaim(ctx, claim)
		r = scan.Result()
	}
	r.Sessions = EnclosingSessions(scanner, r, pid, getenv)
	switch n := len(r.Sessions); n {
	case 0:
		return r, discover.ErrNotFound
	case 1:
		return r, nil
	default:
		return r, &discover.AmbiguousError{Arg: "current", Candidates: r.Sessions, Total: n}
	}
}

// EnclosingSessions returns the sessions of r that the process with this pid runs inside of, as [Current] does. r must hold
// all live sessions, sub-agents' too. Of a session that a sandbox hides, little more than the ID is known.
func EnclosingSessions(scanner *discover.Scanner, r discover.Result, pid int, getenv func(string) string) []discover.Session {
	if claim, ok := claimFromMarker(scanner, r, pid, getenv); ok {
		return discover.Correlate(r.Table, []discover.Claim{claim}, nil)
	}
	for p := range ancestorsOrSelf(r.Table, pid) {
		if sessions := sessionsOf(r, p.ID.PID); len(sessions) > 0 {
			return chooseByMarker(scanner, sessions, getenv)
		}
	}
	return nil
}

func sessionsOf(r discover.Result, pid int) []discover.Session {
	return slices.DeleteFunc(slices.Clone(r.Sessions), func(s discover.Session) bool { return !s.HasPID(pid) })
}

// chooseByMarker returns the session that the environment names; without a marker, the sessions that are no sub-agent's.
func chooseByMarker(scanner *discover.Scanner, sessions []discover.Session, getenv func(string) string) []discover.Session {
	for _, a := range scanner.Adapters {
		marker, ok := a.ReadMarker(getenv)
		i := slices.IndexFunc(sessions, func(s discover.Session) bool { return s.Agent == a.Name() && s.ID == marker.Session })
		if ok && marker.Session != "" && i >= 0 {
			return sessions[i : i+1]
		}
	}
	if len(sessions) == 1 {
		return sessions
	}
	return slices.DeleteFunc(sessions, func(s discover.Session) bool { return s.IsSubagent() })
}

// ancestorsOrSelf yields the ancestors of a process; the process itself, where none of them can be seen.
func ancestorsOrSelf(table *proc.Table, pid int) iter.Seq[proc.Process] {
	return func(yield func(proc.Process) bool) {
		for p := range table.Ancestors(pid) {
			if pid = 0; !yield(p) {
				return
			}
		}
		if p, ok := table.ByPID(pid); ok {
			yield(p)
		}
	}
}

// claimFromMarker makes the claim that names the session around a process where only the marker does: the nearest ancestor
// that is an agent does not show its open files, or no agent can be seen, but the first visible process is an agent's
// sandbox.
func claimFromMarker(scanner *discover.Scanner, r discover.Result, pid int, getenv func(string) string) (discover.Claim, bool) {
	for p := range ancestorsOrSelf(r.Table, pid) {
		sessions := sessionsOf(r, p.ID.PID)
		switch _, hasParent := r.Table.ByPID(p.Parent); {
		case len(sessions) == 1 && sessions[0].ID == "" && sessions[0].Status == discover.Unknown:
			return markerClaim(discover.AdapterOf(scanner.Adapters, sessions[0].Agent), p, getenv,
				"mark", "what the process has open may not be read; it has marked this one with the session")
		case len(sessions) > 0 || scanner.IsAgent(p):
			return discover.Claim{}, false
		case !hasParent:
			return sandboxClaim(scanner, p, getenv)
		}
	}
	return discover.Claim{}, false
}

// sandboxClaim makes the claim of a process that is an agent's sandbox, by the environment of that process, or of a process
// in one, by getenv.
func sandboxClaim(scanner *discover.Scanner, p proc.Process, getenv func(string) string) (discover.Claim, bool) {
	const detail = "from which nothing outside can be seen, marked with the session"
	if i := slices.IndexFunc(scanner.Adapters, func(a discover.Adapter) bool { return a.IsSandbox(p) }); i >= 0 {
		return markerClaim(scanner.Adapters[i], p, func(key string) string {
			env, _ := p.Env(key) // an unreadable environment has no marker
			return env[key]
		}, "sandbox", "it is the agent's sandbox, "+detail)
	}
	if i := slices.IndexFunc(scanner.Adapters, func(a discover.Adapter) bool { return a.InSandbox(getenv) }); i >= 0 {
		return markerClaim(scanner.Adapters[i], p, getenv, "sandbox", "it is in the agent's sandbox, "+detail)
	}
	return discover.Claim{}, false
}

// markerClaim makes the claim of the session that an environment names.
func markerClaim(a discover.Adapter, p proc.Process, getenv func(string) string, kind, detail string) (discover.Claim, bool) {
	marker, ok := a.ReadMarker(getenv)
	return discover.Claim{
		Agent: a.Name(), Process: p.ID, Session: marker.Session, Strength: discover.Strong, Kind: kind, Detail: detail,
		Turn: &discover.Turn{State: discover.TurnOpen}, // the process is a tool call of it that runs
	}, ok && marker.Session != ""
}

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
