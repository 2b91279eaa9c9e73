package watch

import (
	"slices"
	"time"

	"agentctl/discover"
)

// EventType says what has happened to a session.
type EventType string

// The types of events; docs/json.md gives their meaning for users.
const (
	SessionStarted EventType = "session.started" // a process runs it now, or has run it
	SessionRunning EventType = "session.running" // its status is running, or cannot be told any more
	SessionIdle    EventType = "session.idle"    // its turn has ended
	SessionWaiting EventType = "session.waiting" // it is blocked on the user
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

// Events returns what has happened to the sessions of a filter's watcher since the last call, as of its last snapshot, in
// order. The first call returns the sessions that were live at first, as if they had just started.
func (w *Watcher) Events() (out []Event) {
	now, wanted := w.poller.now().UTC(), w.filter.SessionFilter
	wanted.IncludeStopped = true
	first := !w.filter.reported
	w.filter.reported = true
	for _, t := range w.tracks {
		if t.replaced || t.reported == nil && (!wanted.Matches(&t.now) || !first && w.tooEarly(t, now)) {
			continue
		}
		for _, what := range diff(t.reported, t.now) {
			out = append(out, Event{what, now, t.now})
		}
		t.report()
	}
	return out
}

// tooEarly reports whether the first event of a session is to be delayed, because its ID or its parent is known soon.
func (w *Watcher) tooEarly(t *track, now time.Time) bool {
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

// mayBeSub reports whether a session may turn out to be a sub-agent's: its process runs another session, and neither prompt
// nor title is stored so far.
func (w *Watcher) mayBeSub(row discover.Session) bool {
	return row.Prompt == "" && row.Title == "" && slices.ContainsFunc(w.tracks, func(t *track) bool {
		return t.now.Agent == row.Agent && t.now.ID != row.ID && t.now.ID != "" && t.now.SharesProcess(row)
	})
}
