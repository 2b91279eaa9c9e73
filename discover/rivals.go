package discover

import (
	"context"
	"errors"
	"path/filepath"
	"slices"

	"agentctl/proc"
)

// SameIDSessions returns the other sessions with the ID of s, stored ones included: an environment marker names a session by its ID
// alone, which one may have in another directory or home as well.
func (w *Scanner) SameIDSessions(ctx context.Context, s Session) (rivals []Session) {
	r, err := w.Find(ctx, s.ID, []Agent{s.Agent}, ReadOptions{})
	found := r.Sessions
	if ambiguous := (*AmbiguousError)(nil); errors.As(err, &ambiguous) {
		found = ambiguous.Candidates
	}
	for _, o := range found {
		// Where a session is stored may have been unknown to one of the two snapshots.
		if o.ID == s.ID && o.Path != s.Path && o.Path != "" && s.Path != "" {
			rivals = append(rivals, o)
		}
	}
	return rivals
}

// Belongs reports whether a process with the environment marker of s may belong to s (fits), and to none of its rivals
// (sole): it goes by the process that started it, by its home, and by its directory.
func (w *Scanner) Belongs(table *proc.Table, p proc.Process, s Session, rivals []Session) (fits, sole bool) {
	if len(rivals) == 0 {
		return true, true
	}
	for _, above := range w.startersOf(table, p, s.Agent) {
		switch {
		case s.HasProcess(above.ID):
			return true, true
		case slices.ContainsFunc(rivals, func(r Session) bool { return r.HasProcess(above.ID) }):
			return false, false
		}
	}
	all := append([]Session{s}, rivals...)
	candidates := all
	if home := w.homeOf(p, all); home != "" {
		candidates = narrowed(candidates, func(c Session) bool { return c.Home == home })
	}
	if dir, err := p.Cwd(); err == nil {
		candidates = narrowed(candidates, func(c Session) bool { return c.Dir != "" && within(dir, c.Dir) })
	}
	fits = slices.ContainsFunc(candidates, func(c Session) bool { return c.Key() == s.Key() })
	return fits, fits && len(candidates) == 1
}

// narrowed returns the sessions that fit; all of them if none does, which says nothing.
func narrowed(list []Session, fits func(Session) bool) []Session {
	kept := slices.DeleteFunc(slices.Clone(list), func(s Session) bool { return !fits(s) })
	if len(kept) == 0 {
		return list
	}
	return kept
}

// startersOf returns the ancestors of p, and the agent's process that its marker names.
func (w *Scanner) startersOf(table *proc.Table, p proc.Process, agent Agent) []proc.Process {
	all := slices.Collect(table.Ancestors(p.ID.PID))
	for _, m := range w.marks(p) {
		if q, ok := table.ByPID(m.PID); ok && m.agent == agent && m.PID > 0 && q.Ticks <= p.Ticks {
			all = append(all, q)
		}
	}
	return all
}

// homeOf returns the agent's home by the environment of a process, under the name that one of the sessions has it; "" where it is
// none of theirs.
func (w *Scanner) homeOf(p proc.Process, sessions []Session) string {
	a, ok := AdapterWith[HomeResolver](w.Adapters, sessions[0].Agent)
	if !ok {
		return ""
	}
	home := a.HomeOf(p)
	for _, s := range sessions {
		if home != "" && (s.Home == home || RealPath(s.Home) == RealPath(home)) {
			return s.Home
		}
	}
	return ""
}

// within reports whether a directory is another one, or lies below it.
func within(dir, top string) bool {
	rel, err := filepath.Rel(RealPath(top), RealPath(dir))
	return err == nil && filepath.IsLocal(rel)
}
