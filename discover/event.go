package discover

import (
	"context"
	"slices"
	"time"

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
	Session Session
}

// Events tells what happens to the sessions of the selection, as [World.Watch] sees it: after each look that has something
// to tell, in order. The last event of each session has what is true of it. With initial the sessions that are there at
// first are told as if they had just begun. It ends when tell fails, or with ctx.
func (w *World) Events(ctx context.Context, sel Select, initial bool, tell func([]Event, []*Warning) error) error {
	sel.All, sel.Limit = false, 0
	s := newSurvey(w, sel, systemSenses())
	first := true
	return s.watch.run(ctx, nil, s.look, func(r Result) (bool, error) {
		events := s.events(first)
		if first && !initial {
			events = nil
		}
		first = false
		if len(events)+len(r.Warnings) == 0 {
			return true, nil
		}
		return true, tell(events, r.Warnings)
	})
}

// hush is how long a process whose session is not known yet is not told of: mostly its session has a name soon.
const hush = 500 * time.Millisecond

// newborn is how long a session in which nothing was said is not told of where it may be a sub-agent's: its first record
// says so. That it has begun may be told sooner by its ID, or by an empty file.
const newborn = 300 * time.Millisecond

// mayBeSub reports whether a session may turn out to be a sub-agent's: its process runs another one, and no word of it is
// stored so far.
func (s *survey) mayBeSub(row Session) bool {
	return row.ID != "" && row.Prompt == "" && row.Title == "" && slices.ContainsFunc(s.tracks, func(t *track) bool {
		return t.now.Agent == row.Agent && t.now.ID != row.ID && t.now.ID != "" &&
			slices.ContainsFunc(t.now.Processes, func(p proc.Process) bool { return row.hasProcess(p.ID) })
	})
}

// events are what has happened to the sessions since they were told of last. What is there at first is told at once.
func (s *survey) events(first bool) (out []Event) {
	now, wanted := s.watch.now().UTC(), s.sel
	wanted.All = true
	for _, t := range s.tracks {
		switch {
		case t.replaced, t.told == nil && !wanted.takes(&t.now):
			continue
		case t.told == nil && t.now.ID == "" && !first:
			if t.now.Status == Stopped {
				continue // what it has left in the storage is told
			}
			if now.Sub(t.since) < hush {
				s.watch.wake(t.since.Add(hush))
				continue
			}
		case t.told == nil && !first && now.Sub(t.since) < newborn && s.mayBeSub(t.now):
			s.watch.wake(t.since.Add(newborn))
			continue
		}
		for _, what := range happened(t.told, t.now) {
			out = append(out, Event{what, now, t.now})
		}
		told := t.now
		t.told = &told
	}
	return out
}

// happened says what has happened to a session between two looks; was is nil if it was not there.
func happened(was *Session, now Session) (out []EventType) {
	began := was == nil || was.Status == Stopped && (now.Status.Live() || now.later(*was)) || now.elsewhere(*was)
	if began {
		out = append(out, SessionStarted)
	} else if !now.differs(*was) && slices.Equal(pids(now), pids(*was)) && now.ID == was.ID &&
		(now.Status != Idle || !now.later(*was)) {
		return nil
	}
	failed := now.Error != "" && (began || was.Error != now.Error || now.later(*was))
	switch now.Status {
	case Waiting:
		return append(out, SessionWaiting)
	case Idle:
		if failed {
			return append(out, SessionError)
		}
		return append(out, SessionIdle)
	case Stopped:
		if failed {
			out = append(out, SessionError)
		}
		return append(out, SessionStopped)
	}
	return append(out, SessionRunning)
}

// elsewhere reports whether a live session is run by other processes altogether than it was.
func (s Session) elsewhere(was Session) bool {
	shared := func(p proc.Process) bool { return was.hasProcess(p.ID) }
	return len(s.Processes) > 0 && len(was.Processes) > 0 && s.Status.Live() && !slices.ContainsFunc(s.Processes, shared)
}

func pids(s Session) (out []proc.ID) {
	for _, p := range s.Processes {
		out = append(out, p.ID)
	}
	return out
}
