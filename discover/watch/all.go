package watch

import (
	"context"
	"maps"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// selection is what a watcher of all sessions knows beside its tracks.
type selection struct {
	discover.SessionFilter
	// liveOnly: the stores are not searched for what was never seen live.
	liveOnly bool
	begun    time.Time // when the first snapshot began
	searched time.Time // when the stores were last searched
	due      time.Time // when they are to be searched again
	agents   map[proc.ID]bool
	homes    map[discover.Agent][]discover.Home // all that were seen so far
	stopped  map[discover.Key]stopped           // sessions that have stopped of late
	// unclaimed says when stored sessions were first seen that were never seen live, but may be.
	unclaimed map[discover.Key]time.Time
	// stored are, if stopped sessions are asked for too, those that had stopped when the stores were last searched.
	stored []discover.Session
	// reported: there were events.
	reported bool
}

// stopped is a session as it was when it had stopped. reported: there were events of it.
type stopped struct {
	discover.Session
	reported bool
}

func newSelection(sel discover.SessionFilter) *selection {
	return &selection{SessionFilter: sel, stopped: map[discover.Key]stopped{}, unclaimed: map[discover.Key]time.Time{}}
}

// search is a search of the stores for sessions that have begun and stopped unseen.
type search struct {
	// since: what was written before is not one of them.
	since time.Time
	// due: this snapshot makes the search.
	due bool
}

// search says whether the stores are to be searched now. They are now and then, and when an agent's process has ended.
func (s *selection) search(now time.Time) search {
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

// snapshotAll is [Watcher.Snapshot] of a watcher of all sessions.
func (w *Watcher) snapshotAll(ctx context.Context) (discover.Result, error) {
	w.drop()
	all, now := w.all, w.poller.now()
	search := all.search(now)
	req := discover.SnapshotRequest{Agents: all.Agents, Options: w.want, Follow: w.sessions(), AllLive: true, ExtraHomes: all.homes}
	if search.due {
		req.Stored = &discover.StoredRequest{Since: search.since, Subagents: all.Subagents}
		if len(all.stopped) > 0 {
			req.Stored.NeedsTurnStart = w.mayRunAgain
		}
		if all.IncludeStopped {
			req.Stored.Since = all.Since
		}
	}
	snap, err := w.scanner.Snapshot(ctx, req)
	if err != nil {
		return discover.Result{}, err
	}
	if search.due {
		all.searched, all.due = now, now.Add(max(idleInterval, costShare*w.poller.cost()))
	}
	w.step(&snap, now)
	w.settle(&snap, search, now)
	w.remember(snap.Sessions)
	w.plan(&snap, search, now)
	rows := make([]discover.Session, 0, len(w.tracks))
	for _, t := range w.tracks {
		if !t.replaced {
			rows = append(rows, t.now)
		}
	}
	w.about = append(slices.Clone(rows), snap.UnlinkedProcesses(rows)...)
	for _, row := range all.stored {
		if !slices.ContainsFunc(rows, func(o discover.Session) bool { return o.Key() == row.Key() }) {
			rows = append(rows, row)
		}
	}
	slices.SortFunc(rows, discover.Compare)
	snap.Result.Sessions = rows
	sel := all.SessionFilter
	sel.IncludeStopped = true
	return sel.Apply(snap.Result), nil
}

// drop ends the tracks of what has stopped. Of a session that never had a name nothing is left.
func (w *Watcher) drop() {
	w.tracks = slices.DeleteFunc(w.tracks, func(t *track) bool {
		if t.replaced || t.now.Status != discover.Stopped {
			return t.replaced
		}
		if key := t.now.Key(); t.now.ID != "" {
			w.all.stopped[key] = stopped{t.now, t.reported != nil}
			if w.all.IncludeStopped {
				w.all.stored = slices.DeleteFunc(w.all.stored, func(o discover.Session) bool { return o.Key() == key })
				w.all.stored = append(w.all.stored, t.now)
			}
		}
		return true
	})
}

// settle begins tracks of the rows that have none: of what lives, and of what has stopped unseen.
func (w *Watcher) settle(snap *discover.Snapshot, search search, now time.Time) {
	all := w.all
	held := slices.Clone(snap.Followed)
	for _, t := range w.tracks {
		if !t.stopping.IsZero() {
			held = append(held, t.now)
		}
	}
	unclaimed := all.unclaimed
	if search.due {
		all.stored, all.unclaimed = nil, map[discover.Key]time.Time{}
	}
	for _, row := range snap.Sessions {
		switch {
		case covered(row, held):
		case row.Status.Live(),
			search.due && all.unseen(row, search.since) && !w.mayLive(snap, row, now, unclaimed[row.Key()]):
			t := &track{now: row, since: now}
			if old := all.stopped[row.Key()]; old.reported { // of others the filter is asked again
				t.reported = &old.Session
			}
			w.tracks = append(w.tracks, t)
		case search.due && all.IncludeStopped:
			all.stored = append(all.stored, row)
		}
	}
}

// unseen reports whether a stopped session was run since, though it was not seen, or has ended otherwise than it seemed.
func (s *selection) unseen(row discover.Session, since time.Time) bool {
	if row.Updated.Before(since) {
		return false
	}
	old, ok := s.stopped[row.Key()]
	return !ok || Changed(row, old.Session)
}

// mayLive reports whether a stopped session that was never seen live may be run by one of its agent's processes all the
// same: what ties them may come later than what is stored. It is believed to have stopped when it has seemed so for long;
// since says since when it has.
func (w *Watcher) mayLive(snap *discover.Snapshot, row discover.Session, now, since time.Time) bool {
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
	w.all.unclaimed[row.Key()] = since
	w.searchBy(since.Add(enough))
	return true
}

// mayRunAgain reports whether what was stored of a session that has stopped of late may be another turn. A file is mostly a
// little younger than its last record: those few sessions are read again and again.
func (w *Watcher) mayRunAgain(e discover.Entry) bool {
	old, ok := w.all.stopped[discover.Key{Agent: e.Agent, ID: e.ID, Path: e.Path}]
	tracked := func(t *track) bool { return t.now.Key() == old.Key() }
	return ok && e.Updated.After(old.Updated) && !slices.ContainsFunc(w.tracks, tracked)
}

// searchBy asks for a search of the stores at this time, if none is due before.
func (w *Watcher) searchBy(at time.Time) {
	if w.all.liveOnly {
		return
	}
	if at.Before(w.all.due) {
		w.all.due = at
	}
	w.poller.wakeAt(at)
}

// plan keeps what the next snapshot needs to know of this one.
func (w *Watcher) plan(snap *discover.Snapshot, search search, now time.Time) {
	all := w.all
	if search.due {
		maps.DeleteFunc(all.stopped, func(_ discover.Key, s stopped) bool { return s.Updated.Before(search.since) })
	}
	if !snap.ProcessesUnknown {
		for p := range all.agents {
			if !snap.AgentProcesses[p] { // what it has left behind may be news
				w.searchBy(now)
			}
		}
		all.agents = snap.AgentProcesses
	}
	all.homes = snap.Homes
}
