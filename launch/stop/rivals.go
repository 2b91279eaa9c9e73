package stop

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/proc"
)

// findRivals finds the other sessions with the target's ID, stored ones too: an environment marker names a session by its
// ID alone, which one may have in another directory or home as well. It asks once.
func (t *target) findRivals(ctx context.Context) {
	if t.compared || t.Before.ID == "" {
		return
	}
	r, err := t.world.Find(ctx, t.Before.ID, []discover.Agent{t.Before.Agent}, discover.Want{})
	found := r.Sessions
	if ambiguous := (*discover.AmbiguousError)(nil); errors.As(err, &ambiguous) {
		found = ambiguous.Candidates
	}
	for _, s := range found {
		if s.ID == t.Before.ID && !same(s, t.Before) {
			t.rivals = append(t.rivals, s)
		}
	}
	t.compared = ctx.Err() == nil
}

// belongs reports whether a process with the session's environment marker is this session's, where others have the same ID:
// by the process that started it, by its home, or by its directory. What fits several is noted as unclear, and left.
func (t *target) belongs(now discover.Result, p proc.Process) bool {
	rivals := slices.DeleteFunc(slices.Clone(t.rivals), t.endedToo)
	if len(rivals) == 0 {
		return true
	}
	for _, above := range startersOf(now.Table, p, t.markOf(p)) {
		switch {
		case hasProcess(t.Before, above.ID):
			return true
		case slices.ContainsFunc(rivals, func(r discover.Session) bool { return hasProcess(r, above.ID) }):
			return false
		}
	}
	fits := append([]discover.Session{t.Before}, rivals...)
	if home := t.homeOf(p); home != "" {
		fits = narrowed(fits, func(s discover.Session) bool { return s.Home == home })
	}
	if dir, err := p.Dir(); err == nil {
		fits = narrowed(fits, func(s discover.Session) bool { return s.Dir != "" && within(dir, s.Dir) })
	}
	own := slices.ContainsFunc(fits, func(s discover.Session) bool { return same(s, t.Before) })
	if own && len(fits) > 1 && !slices.Contains(t.unclear, p.ID) {
		t.unclear = append(t.unclear, p.ID)
	}
	return own && len(fits) == 1
}

// narrowed are the sessions that fit; all of them if none does, which says nothing.
func narrowed(list []discover.Session, fits func(discover.Session) bool) []discover.Session {
	kept := slices.DeleteFunc(slices.Clone(list), func(s discover.Session) bool { return !fits(s) })
	if len(kept) == 0 {
		return list
	}
	return kept
}

// endedToo reports whether another session is ended by the same call, so that no matter whose a process is of the two.
func (t *target) endedToo(s discover.Session) bool {
	return slices.ContainsFunc(t.targets, func(o *target) bool { return same(o.Before, s) && o.isOver() })
}

// startersOf are the processes above p, and the one that its marker names as its agent's.
func startersOf(table *proc.Table, p proc.Process, mark discover.Mark) []proc.Process {
	all := slices.Collect(table.Ancestors(p.ID.PID))
	if agent, ok := table.PID(mark.PID); ok && mark.PID > 0 && agent.Ticks <= p.Ticks {
		all = append(all, agent)
	}
	return all
}

// markOf is the marker of the session's agent in a process's environment.
func (t *target) markOf(p proc.Process) (mark discover.Mark) {
	m, ok := t.stopper.(discover.Marker)
	if !ok {
		return mark
	}
	env, err := p.Env(m.MarkKeys()...)
	if err != nil {
		return mark
	}
	mark, _ = m.Mark(func(key string) string { return env[key] })
	return mark
}

// homeOf is the agent's home by a process's environment, under the name that a session with this ID has it; "" where it is
// none of theirs.
func (t *target) homeOf(p proc.Process) string {
	h, ok := t.stopper.(discover.Homer)
	if !ok {
		return ""
	}
	home := h.HomeOf(p)
	if home == "" {
		return ""
	}
	for _, s := range append([]discover.Session{t.Before}, t.rivals...) {
		if s.Home == home || realPath(s.Home) == realPath(home) {
			return s.Home
		}
	}
	return ""
}

// within reports whether a directory is another one, or lies below it.
func within(dir, top string) bool {
	rel, err := filepath.Rel(realPath(top), realPath(dir))
	return err == nil && filepath.IsLocal(rel)
}

func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return filepath.Clean(path)
}

// sayUnclear says which processes were left because they may be another session's.
func (t *target) sayUnclear() {
	var pids []string
	for _, id := range t.unclear {
		if lives(id) {
			pids = append(pids, id.String())
		}
	}
	if len(pids) == 0 {
		return
	}
	text := fmt.Sprintf("left %s: it may be of another session with this ID", strings.Join(pids, ", "))
	if t.Message != "" {
		text = t.Message + "; " + text
	}
	t.Message = text
}
