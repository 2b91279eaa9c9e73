package discover

import (
	"context"
	"slices"
	"time"
)

// SessionFilter says which sessions are wanted.
type SessionFilter struct {
	// All asks for stopped sessions too.
	All bool
	// Since leaves out stopped sessions with no activity since then; zero: all of them.
	Since time.Time
	// Limit is the most sessions returned, the first in the order of [Compare]; 0: all.
	Limit int
	// Agents, Statuses: any of these; empty: all.
	Agents   []Agent
	Statuses []Status
	// Match is a further condition on the finished session (directory, group); nil: none.
	Match func(Session) bool
	// Children asks for sub-agents' sessions too.
	Children bool
	// Tokens asks for token totals on every row.
	Tokens bool
	// Whole asks for everything a record can hold, as for one session alone.
	Whole bool
}

// Matches reports whether the selection asks for a session.
func (sel *SessionFilter) Matches(s *Session) bool {
	switch {
	case s.Status == Stopped && !sel.All,
		s.Status == Stopped && !s.Updated.IsZero() && s.Updated.Before(sel.Since),
		len(sel.Statuses) > 0 && !slices.Contains(sel.Statuses, s.Status),
		s.IsSub() && !sel.Children:
		return false
	}
	return sel.Match == nil || sel.Match(*s)
}

// Apply leaves what is asked for of sessions in order.
func (sel *SessionFilter) Apply(r Result) Result {
	r.Sessions = sel.first(sel.taken(r.Sessions))
	return r
}

// taken are those of the sessions that are asked for. Sessions are large: none is moved while none before it is left out.
func (sel *SessionFilter) taken(list []Session) []Session {
	n := 0
	for i := range list {
		if !sel.Matches(&list[i]) {
			continue
		}
		if i > n {
			list[n] = list[i]
		}
		n++
	}
	clear(list[n:])
	return list[:n]
}

// first are as many of them as are asked for.
func (sel *SessionFilter) first(list []Session) []Session {
	if sel.Limit > 0 && len(list) > sel.Limit {
		return list[:sel.Limit]
	}
	return list
}

// List returns the sessions of the selection in the order of [Compare]. The error is nil unless the process table
// cannot be read; what else could not be read is in the result's warnings.
func (w *Scanner) List(ctx context.Context, sel SessionFilter) (Result, error) {
	l := w.newScan(sel.Agents)
	if sel.All {
		return l.listAll(ctx, sel)
	}
	if err := l.claimed(ctx, ReadOptions{Tokens: sel.Tokens, Full: sel.Whole}); err != nil {
		return Result{}, err
	}
	return l.chosen(&sel), ctx.Err()
}

// listAll reads the storage first and the processes second: a session that lives throughout can never look stopped.
// Should a process name a home that was not read, or the selection take few of what was, it looks at both again.
func (l *scan) listAll(ctx context.Context, sel SessionFilter) (Result, error) {
	want := ReadOptions{Tokens: sel.Tokens, Full: sel.Whole}
	query := func(Agent) EntryFilter {
		return EntryFilter{Since: sel.Since, Children: sel.Children, WithoutTimes: sel.Limit == 0 && sel.Since.IsZero()}
	}
	var rest []Entry // listed, but not read yet
	fresh, batch := l.homes, max(sel.Limit, 1)
	for {
		found := l.entries(ctx, fresh, query)
		if sel.Limit > 0 { // else all are read, in any order
			rest = newest(slices.Concat(append([][]Entry{rest}, found...)...))
			n := min(batch, len(rest))
			found, rest = l.byAgent(rest[:n]), rest[n:]
		}
		all := want
		all.AllEntries = sel.Limit == 0 && sel.Since.IsZero() && len(l.warnings) == 0
		l.read(ctx, found, all)
		var err error
		if fresh, err = l.take(ctx); err != nil {
			return Result{}, err
		}
		if len(fresh) > 0 {
			continue
		}
		l.claim(ctx)
		l.readClaimed(ctx, want, anyClaim)
		r := l.chosen(&sel)
		if ctx.Err() != nil || len(rest) == 0 || len(r.Sessions) >= sel.Limit {
			return r, ctx.Err()
		}
		batch *= 2
	}
}
