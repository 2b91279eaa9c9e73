package ancestry

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// SameIDSessions returns the other sessions with the ID of s, stored ones included: an environment marker names a session
// by its ID alone, which a session in another directory or home may have as well.
func SameIDSessions(ctx context.Context, scanner *discover.Scanner, s discover.Session) (others []discover.Session) {
	r, err := scanner.Find(ctx, s.ID, []discover.Agent{s.Agent}, discover.ReadOptions{})
	found := r.Sessions
	if ambiguous := (*discover.AmbiguousError)(nil); errors.As(err, &ambiguous) {
		found = ambiguous.Candidates
	}
	for _, o := range found {
		// Where a session is stored may have been unknown to one of the two scans.
		if o.ID == s.ID && o.Path != s.Path && o.Path != "" && s.Path != "" {
			others = append(others, o)
		}
	}
	return others
}

// Belongs reports whether a process with the environment marker of s may belong to s (fits), and to none of the others with
// the same ID (sole): by the process that started it, by its home, and by its directory.
func Belongs(
	scanner *discover.Scanner, table *proc.Table, p proc.Process, s discover.Session, others []discover.Session,
) (fits, sole bool) {
	if len(others) == 0 {
		return true, true
	}
	for _, starter := range startersOf(scanner, table, p, s.Agent) {
		switch {
		case s.HasProcess(starter.ID):
			return true, true
		case slices.ContainsFunc(others, func(o discover.Session) bool { return o.HasProcess(starter.ID) }):
			return false, false
		}
	}
	all := append([]discover.Session{s}, others...)
	candidates := all
	if home := homeOf(scanner, p, all); home != "" {
		candidates = narrow(candidates, func(c discover.Session) bool { return c.Home == home })
	}
	if dir, err := p.Cwd(); err == nil {
		candidates = narrow(candidates, func(c discover.Session) bool { return c.Dir != "" && isWithin(dir, c.Dir) })
	}
	fits = slices.ContainsFunc(candidates, func(c discover.Session) bool { return c.Key() == s.Key() })
	return fits, fits && len(candidates) == 1
}

// narrow returns the sessions that fit; all of them if none does, which says nothing.
func narrow(list []discover.Session, fits func(discover.Session) bool) []discover.Session {
	kept := slices.DeleteFunc(slices.Clone(list), func(s discover.Session) bool { return !fits(s) })
	if len(kept) == 0 {
		return list
	}
	return kept
}

// startersOf returns the ancestors of p, and the agent's process that its marker names.
func startersOf(scanner *discover.Scanner, table *proc.Table, p proc.Process, agent discover.Agent) []proc.Process {
	all := slices.Collect(table.Ancestors(p.ID.PID))
	for _, m := range readMarkers(scanner, p) {
		if q, ok := table.ByPID(m.PID); ok && m.agent == agent && m.PID > 0 && q.Ticks <= p.Ticks {
			all = append(all, q)
		}
	}
	return all
}

// homeOf returns the agent's home by the environment of a process, under the name that one of the sessions has it; "" where
// it is none of theirs.
func homeOf(scanner *discover.Scanner, p proc.Process, sessions []discover.Session) string {
	a, ok := discover.AdapterWith[discover.HomeResolver](scanner.Adapters, sessions[0].Agent)
	if !ok {
		return ""
	}
	home := a.HomeOf(p)
	for _, s := range sessions {
		if home != "" && (s.Home == home || discover.RealPath(s.Home) == discover.RealPath(home)) {
			return s.Home
		}
	}
	return ""
}

// isWithin reports whether a directory is another one, or lies below it.
func isWithin(dir, top string) bool {
	rel, err := filepath.Rel(discover.RealPath(top), discover.RealPath(dir))
	return err == nil && filepath.IsLocal(rel)
}
