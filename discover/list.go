package discover

import (
	"context"
	"slices"
	"time"
)

// Select says which sessions are wanted.
type Select struct {
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
}

func (sel Select) takes(s Session) bool {
	switch {
	case s.Status == Stopped && !sel.All,
		s.Status == Stopped && !s.Updated.IsZero() && s.Updated.Before(sel.Since),
		len(sel.Statuses) > 0 && !slices.Contains(sel.Statuses, s.Status),
		s.IsSub() && !sel.Children:
		return false
	}
	return sel.Match == nil || sel.Match(s)
}

func (sel Select) cut(r Result) Result {
	r.Sessions = slices.DeleteFunc(r.Sessions, func(s Session) bool { return !sel.takes(s) })
	if sel.Limit > 0 && len(r.Sessions) > sel.Limit {
		r.Sessions = r.Sessions[:sel.Limit]
	}
	return r
}

// List returns the sessions of the selection in the order of [Compare]. The error is nil unless the process table
// cannot be read; what else could not be read is in the result's warnings.
func (w *World) List(ctx context.Context, sel Select) (Result, error) {
	l, err := w.look(ctx, sel.Agents)
	if err != nil {
		return Result{}, err
	}
	want := Want{Tokens: sel.Tokens}
	if !sel.All {
		// The cost of this path depends on the live processes, not on the store's size.
		l.claim(ctx)
		l.readClaimed(ctx, want)
		return sel.cut(l.result()), ctx.Err()
	}
	return w.listAll(ctx, l, sel, want)
}

// listAll reads the storage first and the processes second: a session that lives throughout can never look stopped.
func (w *World) listAll(ctx context.Context, l *look, sel Select, want Want) (Result, error) {
	entries := l.entries(ctx, func(Agent) (Query, bool) {
		return Query{Since: sel.Since, Children: sel.Children}, true
	})
	batch := len(entries)
	if sel.Limit > 0 {
		batch = sel.Limit
	}
	for {
		n := min(batch, len(entries))
		l.read(ctx, entries[:n], want)
		entries = entries[n:]
		if err := l.take(ctx); err != nil {
			return Result{}, err
		}
		l.claim(ctx)
		l.readClaimed(ctx, want)
		r := sel.cut(l.result())
		if ctx.Err() != nil || len(entries) == 0 || sel.Limit > 0 && len(r.Sessions) >= sel.Limit {
			return r, ctx.Err()
		}
		batch *= 2 // the selection takes few of them
	}
}
