package watch

import (
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// EventType says what has happened to a session.
type EventType string

// The types of events; docs/json.md gives their meaning for users.
const (
	SessionStarted EventType = "session.started" // a process runs it now, or has run it
	SessionRunning EventType = "session.running" // its status is running, or cannot be told any more
	SessionIdle    EventType = "session.idle"    // its turn has ended
	SessionWaiting EventType = "session.waiting" // it is blocked on the person
	SessionError   EventType = "session.error"   // its turn has failed
	SessionStopped EventType = "session.stopped" // no process runs it any more
)

// Event is something that has happened to a session.
type Event struct {
	Type EventType
	// Time is when it was seen, UTC.
	Time time.Time
	// Session is what was true of it by then, whatever the event: of several events at once each has the same.
	Session discover.Session
}

// Events returns what has happened to the sessions of a watcher of all, up to its last snapshot and since the last call: in
// order, the last event of each session with what is true of it. The first call returns the sessions that lived at first,
// as if they had just begun.
func (w *Watcher) Events() (out []Event) {
	now, wanted := w.poller.now().UTC(), w.all.SessionFilter
	wanted.IncludeStopped = true
	first := !w.all.reported
	w.all.reported = true
	for _, t := range w.tracks {
		if t.replaced || t.reported == nil && (!wanted.Matches(&t.now) || !first && w.early(t, now)) {
			continue
		}
		for _, what := range diff(t.reported, t.now) {
			out = append(out, Event{what, now, t.now})
		}
		reported := t.now
		t.reported = &reported
	}
	return out
}

// early reports whether it is too early for the first event of a session: more is to be known of it soon.
func (w *Watcher) early(t *track, now time.Time) bool {
	delay := time.Duration(0)
	switch {
	case t.now.ID == "" && t.now.Status == discover.Stopped:
		return true // what it has left in the storage has events of its own
	case t.now.ID == "":
		delay = nameDelay
	case w.mayBeSub(t.now):
		delay = parentDelay
	}
	if now.Sub(t.since) >= delay {
		return false
	}
	w.poller.wakeAt(t.since.Add(delay))
	return true
}

// mayBeSub reports whether a session may turn out to be a sub-agent's: its process runs another one, and no word of it is
// stored so far.
func (w *Watcher) mayBeSub(row discover.Session) bool {
	return row.Prompt == "" && row.Title == "" && slices.ContainsFunc(w.tracks, func(t *track) bool {
		return t.now.Agent == row.Agent && t.now.ID != row.ID && t.now.ID != "" && t.now.SharesProcess(row)
	})
}

// diff says what has happened to a session between two snapshots; was is nil if it was not there.
func diff(was *discover.Session, now discover.Session) (out []EventType) {
	began := was == nil || was.Status == discover.Stopped && (now.Status.Live() || later(now, *was)) || elsewhere(now, *was)
	if began {
		out = append(out, SessionStarted)
	} else if !differs(now, *was) && slices.Equal(pids(now), pids(*was)) && now.ID == was.ID &&
		(now.Status != discover.Idle || !later(now, *was)) {
		return nil
	}
	failed := now.Error != "" && (began || was.Error != now.Error || later(now, *was))
	switch now.Status {
	case discover.Waiting:
		return append(out, SessionWaiting)
	case discover.Idle:
		if failed {
			return append(out, SessionError)
		}
		return append(out, SessionIdle)
	case discover.Stopped:
		if failed {
			out = append(out, SessionError)
		}
		return append(out, SessionStopped)
	}
	return append(out, SessionRunning)
}

// elsewhere reports whether a live session is run by other processes altogether than it was.
func elsewhere(s, was discover.Session) bool {
	return len(s.Processes) > 0 && len(was.Processes) > 0 && s.Status.Live() && !s.SharesProcess(was)
}

func pids(s discover.Session) (out []proc.ID) {
	for _, p := range s.Processes {
		out = append(out, p.ID)
	}
	return out
}
