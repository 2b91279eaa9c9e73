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
	SessionWaiting EventType = "session.waiting" // it is blocked on the user
	SessionError   EventType = "session.error"   // its turn has failed
	SessionStopped EventType = "session.stopped" // no process runs it any more
	// SessionQuiet: nothing of it moves; see discover/quiet. A watcher has no such events.
	SessionQuiet EventType = "session.quiet"
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

// diff returns what has happened to a session between two snapshots. was is nil if the session was not in the earlier one.
func diff(was *discover.Session, now discover.Session) (out []EventType) {
	began := was == nil || was.Status == discover.Stopped && (now.Status.Live() || inLaterTurn(now, *was)) || movedProcess(now, *was)
	if began {
		out = append(out, SessionStarted)
	} else if !stateDiffers(now, *was) && !waitsOnOther(now, *was) && slices.Equal(pids(now), pids(*was)) && now.ID == was.ID &&
		(now.Status != discover.Idle || !inLaterTurn(now, *was)) {
		return nil
	}
	failed := now.Error != "" && (began || was.Error != now.Error || inLaterTurn(now, *was))
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

// waitsOnOther reports whether a session needs the user for another call than before, or it is known now for which. An agent may show that
// it waits before its storage says for what.
func waitsOnOther(s, was discover.Session) bool {
	return s.WaitingOn != nil && !s.WaitingOn.Equal(was.WaitingOn)
}

// movedProcess reports whether a live session is run by none of the processes that ran it before.
func movedProcess(s, was discover.Session) bool {
	return len(s.Processes) > 0 && len(was.Processes) > 0 && s.Status.Live() && !s.SharesProcess(was)
}

func pids(s discover.Session) (out []proc.ID) {
	for _, p := range s.Processes {
		out = append(out, p.ID)
	}
	return out
}

// stateDiffers reports whether the session's status, or what belongs to it, has changed.
func stateDiffers(s, was discover.Session) bool {
	return s.Status != was.Status || s.Outcome != was.Outcome || s.WaitingFor != was.WaitingFor || s.Error != was.Error
}

// Changed reports whether the session's status has changed, or a later turn has begun.
func Changed(s, was discover.Session) bool { return stateDiffers(s, was) || inLaterTurn(s, was) }

// inLaterTurn reports whether the session is in a later turn than before, as far as its storage tells. A turn whose begin was
// not known began before the last record.
func inLaterTurn(s, was discover.Session) bool {
	known := was.Turn.Began
	if known.IsZero() {
		known = was.Updated
	}
	return !known.IsZero() && s.Turn.Began.After(known)
}
