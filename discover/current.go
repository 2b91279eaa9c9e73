package discover

import (
	"context"
	"slices"
)

// Current returns the session that the process with this pid runs inside of: that of its nearest ancestor which runs
// any. Where that process runs several, the mark that the agent leaves in the environment of its tools decides, if
// the process does run the session it names. Where a sandbox hides what the process has open, or the process itself,
// the mark alone names the session. Errors: [ErrNotFound], [*AmbiguousError].
func (w *Scanner) Current(ctx context.Context, pid int, getenv func(string) string) (Result, error) {
	l := w.newScan(nil)
	if err := l.readLive(ctx, ReadOptions{}); err != nil {
		return Result{}, err
	}
	if l.tableUnreadable {
		return Result{}, l.warnings[0]
	}
	r := l.result()
	if c, ok := w.hidden(r, pid, getenv); ok {
		l.reveal(ctx, c)
		r = l.result()
	}
	r.Sessions = w.EnclosingSessions(r, pid, getenv)
	if len(r.Sessions) == 0 {
		return r, ErrNotFound
	}
	return r.requireOne("current", len(r.Sessions))
}

// EnclosingSessions returns the sessions of r that the process with this pid runs inside of, as [Scanner.Current] does; r must have
// all live sessions, sub-agents' too. Of one that a sandbox hides there is little more than its name.
func (w *Scanner) EnclosingSessions(r Result, pid int, getenv func(string) string) []Session {
	if c, ok := w.hidden(r, pid, getenv); ok {
		return Correlate(r.Table, []Claim{c}, nil)
	}
	for p := range around(r.Table, pid) {
		if own := r.runBy(p.ID.PID); len(own) > 0 {
			return w.marked(own, getenv)
		}
	}
	return nil
}

func (r Result) runBy(pid int) []Session {
	return slices.DeleteFunc(slices.Clone(r.Sessions), func(s Session) bool { return !s.hasPID(pid) })
}

// marked keeps the session that the environment names; without a mark, the sessions that are no sub-agent's.
func (w *Scanner) marked(sessions []Session, getenv func(string) string) []Session {
	for agent, m := range AdaptersWith[MarkerReader](w.Adapters) {
		mark, ok := m.ReadMarker(getenv)
		i := slices.IndexFunc(sessions, func(s Session) bool { return s.Agent == agent && s.ID == mark.Session })
		if ok && mark.Session != "" && i >= 0 {
			return sessions[i : i+1]
		}
	}
	if len(sessions) == 1 {
		return sessions
	}
	return slices.DeleteFunc(sessions, func(s Session) bool { return s.IsSubagent() })
}
