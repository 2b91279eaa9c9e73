package discover

import (
	"cmp"
	"context"
	"slices"
	"time"
)

// SessionFilter selects sessions.
type SessionFilter struct {
	// IncludeStopped asks for stopped sessions too.
	IncludeStopped bool
	// Thorough asks every process of our user for what it holds, as IncludeStopped does. Else live sessions are missing whose
	// process is not named like its agent and holds no lock. Ask for it before something is done that a live session forbids.
	Thorough bool
	// Since leaves out stopped sessions with no activity since then; zero: all of them.
	Since time.Time
	// SinceBoot: Since is when the machine has started. Sessions that were open when it went down count too: those last active on the
	// last day of its use before, which ends with the newest activity in storage before Since.
	SinceBoot bool
	// WaitingFirst puts waiting sessions first. The order is else that of [Compare].
	WaitingFirst bool
	// Limit is the largest number of sessions returned, those with the newest activity; 0: all.
	Limit int
	// Agents: any of these; empty: all. Statuses, Outcomes: any of either; both empty: all.
	Agents   []Agent
	Statuses []Status
	Outcomes []Outcome
	// Condition is a further condition on the finished session (directory, group); nil: none.
	Condition func(Session) bool
	// Subagents asks for sub-agents' sessions too.
	Subagents bool
	// Tokens asks for the totals of tokens and cost on every row.
	Tokens bool
	// Full asks for everything a record can hold, as for one session alone.
	Full bool

	// openSince is when the last day before the boot began, with SinceBoot.
	openSince time.Time
}

func (filter *SessionFilter) Matches(s *Session) bool {
	since := filter.Since
	if filter.SinceBoot && (s.CutOff() != nil || s.WasOpen()) {
		since = filter.openSince
	}
	switch {
	case s.Status == Stopped && !filter.IncludeStopped,
		s.Status == Stopped && !s.Updated.IsZero() && s.Updated.Before(since),
		len(filter.Statuses)+len(filter.Outcomes) > 0 && !slices.Contains(filter.Statuses, s.Status) && !slices.Contains(filter.Outcomes, s.Outcome),
		s.Copy, s.IsSubagent() && !filter.Subagents:
		return false
	}
	return filter.Condition == nil || filter.Condition(*s)
}

// Apply returns r with the sessions that pass the filter. Those of r must be in the order of [Compare].
func (filter *SessionFilter) Apply(r Result) Result {
	r.Sessions = filter.sortAndLimit(slices.DeleteFunc(r.Sessions, func(s Session) bool { return !filter.Matches(&s) }))
	return r
}

// sortAndLimit keeps the newest sessions, up to the limit, and puts waiting ones first if WaitingFirst is set. The list must be in the
// order of [Compare].
func (filter *SessionFilter) sortAndLimit(list []Session) []Session {
	if filter.Limit > 0 && len(list) > filter.Limit {
		oldest, newer := oldestOf(list, filter.Limit)
		equal := filter.Limit - newer
		list = slices.DeleteFunc(list, func(s Session) bool {
			if s.LastActivity().Equal(oldest) {
				equal--
				return equal < 0
			}
			return s.LastActivity().Before(oldest)
		})
	}
	if filter.WaitingFirst {
		slices.SortStableFunc(list, func(a, b Session) int { return compareBool(a.Status != Waiting, b.Status != Waiting) })
	}
	return list
}

// oldestOf returns the last activity of the oldest one of the n newest sessions, and how many are newer than that.
func oldestOf(list []Session, n int) (oldest time.Time, newer int) {
	times := make([]time.Time, len(list))
	for i := range list {
		times[i] = list[i].LastActivity()
	}
	slices.SortFunc(times, func(a, b time.Time) int { return b.Compare(a) })
	return times[n-1], slices.IndexFunc(times, times[n-1].Equal)
}

// Merge returns sessions that were listed on several machines in the filter's order, up to its limit.
func (filter *SessionFilter) Merge(list []Session) []Session {
	return filter.sortAndLimit(sorted(list))
}

// List returns the sessions that pass the filter, in its order. The error is nil unless the process table
// cannot be read; what else could not be read is in the result's warnings.
func (scanner *Scanner) List(ctx context.Context, filter SessionFilter) (Result, error) {
	scan := scanner.newScan(filter.Agents)
	scan.thorough = filter.Thorough || filter.IncludeStopped
	if filter.IncludeStopped {
		return scan.listAll(ctx, filter)
	}
	if err := scan.readLive(ctx, ReadOptions{Tokens: filter.Tokens, Full: filter.Full, TurnStart: filter.Full}); err != nil {
		return Result{}, err
	}
	return filter.Apply(scan.Result()), ctx.Err()
}

// listAll reads the storage first and the processes second, so that a session that lives throughout never looks stopped. It
// reads both again if a process names a home that was not read, or if too few of the sessions pass the filter.
func (scan *Scan) listAll(ctx context.Context, filter SessionFilter) (Result, error) {
	options := ReadOptions{Tokens: filter.Tokens, Full: filter.Full}
	entryFilter := EntryFilter{Since: filter.Since, Subagents: filter.Subagents}
	if filter.SinceBoot {
		entryFilter.Since = time.Time{}
	}
	var rest []Entry // listed, but not read yet
	fresh, batch := scan.homes, max(filter.Limit, 1)
	for {
		found := scan.listEntries(ctx, fresh, entryFilter)
		if filter.SinceBoot {
			filter.setOpenSince(found)
			for i := range found {
				found[i], _ = dropOlder(found[i], filter.openSince)
			}
		}
		if filter.Limit > 0 { // else all are read, in any order
			rest = sortByUpdated(slices.Concat(append([][]Entry{rest}, found...)...))
			var next []Entry
			next, rest = takeSessions(rest, min(batch, len(rest)))
			found = scan.splitByAgent(next)
		}
		allOptions := options
		allOptions.AllEntries = filter.Limit == 0 && filter.Since.IsZero() && len(scan.warnings) == 0
		scan.readRecords(ctx, found, allOptions)
		var err error
		if fresh, err = scan.readProcesses(ctx); err != nil {
			return Result{}, err
		}
		if len(fresh) > 0 {
			continue
		}
		scan.readClaims(ctx)
		scan.readClaimedRecords(ctx, options, anyClaim)
		scan.readClaimsOfStopped(ctx, options, anyClaim)
		r := filter.Apply(scan.Result())
		if ctx.Err() != nil || len(rest) == 0 {
			return r, ctx.Err()
		}
		if len(r.Sessions) >= filter.Limit {
			if oldest, _ := oldestOf(r.Sessions, filter.Limit); !oldest.Before(rest[0].Updated) {
				return r, nil
			}
		}
		batch *= 2
	}
}

// setOpenSince finds the last day of use before the boot in what is stored.
func (filter *SessionFilter) setOpenSince(stored [][]Entry) {
	const day = 24 * time.Hour
	if filter.openSince.IsZero() {
		filter.openSince = filter.Since
	}
	last := time.Time{}
	for _, e := range slices.Concat(stored...) {
		if e.Updated.Before(filter.Since) && e.Updated.After(last) {
			last = e.Updated
		}
	}
	if begin := last.Add(-day); !last.IsZero() && (begin.After(filter.openSince) || filter.openSince.Equal(filter.Since)) {
		filter.openSince = begin
	}
}

// takeSessions returns the first n entries and the others with their IDs, which may be copies, and the rest.
func takeSessions(entries []Entry, n int) (taken, rest []Entry) {
	ids := map[recordID]bool{}
	for i, e := range entries {
		if id := (recordID{e.Agent, e.ID}); i < n || ids[id] {
			ids[id], taken = true, append(taken, e)
		} else {
			rest = append(rest, e)
		}
	}
	return taken, rest
}

// Compare orders sessions for people: live ones first, then by newest activity; what is left is ordered by name so
// that two scans of the same state give the same list.
func Compare(a, b Session) int {
	return cmp.Or(
		compareBool(!a.Status.Live(), !b.Status.Live()),
		b.LastActivity().Compare(a.LastActivity()),
		cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Path, b.Path), cmp.Compare(a.pid(), b.pid()),
	)
}

// sorted sorts sessions in the order of [Compare], in place.
func sorted(list []Session) []Session {
	slices.SortFunc(list, Compare)
	return list
}

// sortSessions sorts sessions in the order of [Compare], in place. Where processes are hidden, sessions with processes come
// before those of unknown status.
func (scan *Scan) sortSessions(list []Session) []Session {
	if !scan.ProcessesHidden() {
		return sorted(list)
	}
	slices.SortFunc(list, func(a, b Session) int {
		return cmp.Or(compareBool(len(a.Processes) == 0, len(b.Processes) == 0), Compare(a, b))
	})
	return list
}

// recentPeriod is how long a turn that has ended counts as recent.
const recentPeriod = 10 * time.Minute

// SortByAttention sorts sessions by how much they need the user now, in place:
//   - sessions that wait for an answer, the longest wait first,
//   - sessions whose turn failed or was interrupted in the last ten minutes,
//   - other sessions whose turn ended in the last ten minutes,
//   - sessions at work, the newest first,
//   - sessions of unknown status,
//   - idle sessions,
//   - stopped sessions.
func SortByAttention(sessions []Session, now time.Time) {
	slices.SortStableFunc(sessions, func(a, b Session) int {
		need := a.attentionRank(now)
		if other := b.attentionRank(now); need != other {
			return need - other
		}
		switch a.Status {
		case Waiting:
			if c := a.LastActivity().Compare(b.LastActivity()); c != 0 {
				return c
			}
		case Running: // what it does last changes all the time
			if c := b.Created.Compare(a.Created); c != 0 {
				return c
			}
		}
		return Compare(a, b)
	})
}

// attentionRank returns the session's rank, 0 for the most urgent.
func (s Session) attentionRank(now time.Time) int {
	news := now.Sub(s.LastActivity()) < recentPeriod
	failed := s.Error != "" || s.Outcome == Failed || s.Outcome == Interrupted
	switch {
	case s.Status == Waiting:
		return 0
	case news && failed && s.Status != Running:
		return 1
	case news && (s.Status == Idle || s.Status == Stopped):
		return 2
	case s.Status == Running:
		return 3
	case s.Status == Unknown:
		return 4
	case s.Status == Idle:
		return 5
	}
	return 6
}

// StoppedRecently reports whether the session has stopped so lately that whoever watches wants to see it still.
func (s Session) StoppedRecently(now time.Time) bool {
	return s.Status == Stopped && now.Sub(s.LastActivity()) < recentPeriod
}
