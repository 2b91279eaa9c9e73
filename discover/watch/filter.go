package watch

import (
	"context"
	"maps"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// filterState is the state of a filter's watcher beside its tracks.
type filterState struct {
	discover.SessionFilter
	// liveOnly: the stores are not searched for sessions that were never seen live.
	liveOnly bool
	begun    time.Time // when the first snapshot began
	searched time.Time // when the stores were last searched
	due      time.Time // when they are to be searched again
	agents   map[proc.ID]bool
	homes    map[discover.Agent][]discover.Home // all homes seen so far
	stopped  map[discover.Key]stopped           // sessions that have stopped of late
	// unclaimed are stored sessions that were never seen live, but may be, with the time when they were first seen.
	unclaimed map[discover.Key]time.Time
	// stored are the sessions that had stopped at the last search of the stores, if the filter includes stopped sessions.
	stored []discover.Session
	// reported: there were events.
	reported bool
}

// stopped is a session as of its stop. reported: it had events.
type stopped struct {
	discover.Session
	reported bool
}

// search is a search of the stores for sessions that started and stopped between two snapshots.
type search struct {
	// since is the time before which no such session was written last.
	since time.Time
	// due: this snapshot includes the search.
	due bool
}

// search returns whether the stores are to be searched now. They are at intervals, and when an agent's process has ended.
func (s *filterState) search(now time.Time) search {
	if s.begun.IsZero() {
		s.begun, s.searched, s.due = now, now, now
		if !s.IncludeStopped {
			s.due = now.Add(idleInterval)
		}
	}
	since := s.searched.Add(-storedHorizon)
	if since.Before(s.begun) {
		since = s.begun
	}
	return search{since, !s.liveOnly && !now.Before(s.due)}
}

// snapshotAll is [Watcher.Snapshot] of a filter's watcher.
func (w *Watcher) snapshotAll(ctx context.Context) (discover.Result, error) {
	w.dropStopped()
	filter, now := w.filter, w.poller.now()
	search := filter.search(now)
	req := discover.SnapshotRequest{Agents: filter.Agents, Options: w.options, Follow: w.sessions(), AllLive: true, ExtraHomes: filter.homes}
	if search.due {
		req.Stored = &discover.EntryFilter{Since: search.since, Subagents: filter.Subagents}
		if filter.IncludeStopped {
			req.Stored.Since = filter.Since
		}
	}
	snap, err := w.scanner.Snapshot(ctx, req)
	if err != nil {
		return discover.Result{}, err
	}
	if search.due {
		filter.searched, filter.due = now, now.Add(max(idleInterval, costShare*w.poller.took()))
	}
	w.applySnapshot(&snap, now)
	w.trackNewRows(&snap, search, now)
	w.rememberRuns(snap.Sessions)
	w.keepForNext(&snap, search, now)
	rows := make([]discover.Session, 0, len(w.tracks))
	for _, t := range w.tracks {
		if !t.replaced {
			rows = append(rows, t.now)
		}
	}
	w.watched = append(slices.Clone(rows), snap.UnlinkedProcesses(rows)...)
	for _, row := range filter.stored {
		if !slices.ContainsFunc(rows, func(o discover.Session) bool { return o.Key() == row.Key() }) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, discover.Compare)
	snap.Result.Sessions = rows
	withStopped := filter.SessionFilter
	withStopped.IncludeStopped = true
	return withStopped.Apply(snap.Result), nil
}

// dropStopped removes the tracks of stopped sessions. It keeps nothing of a session whose ID was never known.
func (w *Watcher) dropStopped() {
	w.tracks = slices.DeleteFunc(w.tracks, func(t *track) bool {
		if t.replaced || t.now.Status != discover.Stopped {
			return t.replaced
		}
		if key := t.now.Key(); t.now.ID != "" {
			w.filter.stopped[key] = stopped{t.now, t.reported != nil}
			if w.filter.IncludeStopped {
				w.filter.stored = slices.DeleteFunc(w.filter.stored, func(o discover.Session) bool { return o.Key() == key })
				w.filter.stored = append(w.filter.stored, t.now)
			}
		}
		return true
	})
}

// trackNewRows adds tracks of the rows that have none: of live sessions, and of those that stopped between two snapshots.
func (w *Watcher) trackNewRows(snap *discover.Snapshot, search search, now time.Time) {
	filter := w.filter
	tracked := slices.Clone(snap.Followed)
	for _, t := range w.tracks {
		if !t.stopping.IsZero() {
			tracked = append(tracked, t.now)
		}
	}
	unclaimed := filter.unclaimed
	if search.due {
		filter.stored, filter.unclaimed = nil, map[discover.Key]time.Time{}
	}
	for _, row := range snap.Sessions {
		switch {
		case hasSession(row, tracked):
		case row.Status.Live(),
			search.due && filter.stoppedUnseen(row, search.since) && !w.mayStillRun(snap, row, now, unclaimed[row.Key()]):
			t := &track{now: row, since: now}
			if old := filter.stopped[row.Key()]; old.reported { // of others the filter is asked again
				t.reported = &old.Session
			}
			w.tracks = append(w.tracks, t)
		case search.due && filter.IncludeStopped:
			filter.stored = append(filter.stored, row)
		}
	}
}

// stoppedUnseen reports whether a stopped session was run since then without being seen, or its stored end has changed.
func (s *filterState) stoppedUnseen(row discover.Session, since time.Time) bool {
	if row.Updated.Before(since) {
		return false
	}
	old, ok := s.stopped[row.Key()]
	return !ok || Changed(row, old.Session)
}

// mayStillRun reports whether a stopped session that was never seen live may be run by one of its agent's processes: the
// evidence may come later than the record. It counts as stopped when it has looked so for long enough. since is when it
// first did.
func (w *Watcher) mayStillRun(snap *discover.Snapshot, row discover.Session, now, since time.Time) bool {
	if !snap.HasAgentInHome(row) {
		return false
	}
	if since.IsZero() {
		since = now
	}
	enough := claimDelay
	if row.Turn.State != discover.TurnDone && row.Turn.State != discover.TurnFailed {
		enough = idleInterval // something is to go on with it
	}
	if now.Sub(since) >= enough {
		return false
	}
	w.filter.unclaimed[row.Key()] = since
	w.searchBy(since.Add(enough))
	return true
}

// searchBy schedules a search of the stores for this time, if none is due before.
func (w *Watcher) searchBy(at time.Time) {
	if w.filter.liveOnly {
		return
	}
	if at.Before(w.filter.due) {
		w.filter.due = at
	}
	w.poller.wakeAt(at)
}

// keepForNext keeps what the next snapshot needs of this one.
func (w *Watcher) keepForNext(snap *discover.Snapshot, search search, now time.Time) {
	filter := w.filter
	if search.due {
		maps.DeleteFunc(filter.stopped, func(_ discover.Key, s stopped) bool { return s.Updated.Before(search.since) })
	}
	if !snap.ProcessesUnknown {
		for p := range filter.agents {
			if !snap.AgentProcesses[p] { // it may have stored sessions that were not seen
				w.searchBy(now)
			}
		}
		filter.agents = snap.AgentProcesses
	}
	filter.homes = snap.Homes
}
