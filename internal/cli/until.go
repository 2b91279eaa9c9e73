package cli

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
)

// until is what sessions are waited for to become.
type until string

const (
	untilStopped until = "stopped"
	untilIdle    until = "idle"    // the turn is over
	untilWaiting until = "waiting" // the person is needed: asked something, or the turn is over
	untilChange  until = "any-change"
)

func untils() []string {
	return []string{string(untilStopped), string(untilIdle), string(untilWaiting), string(untilChange)}
}

// waiting is a wait for several sessions: each has to be there once, in whatever order.
type waiting struct {
	until    until
	sessions []awaited
	// arrived is called once for each session that is there.
	arrived func(discover.Session) error
}

// awaited is a session that is waited for.
type awaited struct {
	first discover.Session // as it was at the first look
	now   discover.Session // as last seen, or as it was when it got there
	there bool
	idle  time.Time // when it was first seen idle, though not in the storage
}

func newWaiting(u until, n int, arrived func(discover.Session) error) *waiting {
	return &waiting{until: u, sessions: make([]awaited, n), arrived: arrived}
}

// see takes what is true of the sessions, and reports whether one is still to be waited for.
func (w *waiting) see(sessions []discover.Session) (more bool, err error) {
	for i, s := range sessions {
		a := &w.sessions[i]
		if a.first.Record == nil {
			a.first = s
		}
		if a.there {
			continue
		}
		a.now = s
		if a.there = a.reached(w.until); !a.there {
			more = true
		} else if err := w.arrived(s); err != nil {
			return false, err
		}
	}
	return more, nil
}

func (a *awaited) reached(u until) bool {
	switch {
	case u == untilChange:
		return watch.Changed(a.now, a.first)
	case a.now.Status == discover.Stopped:
		return true
	case a.now.Status == discover.Waiting:
		return u == untilWaiting
	}
	return a.now.Status == discover.Idle && u != untilStopped && a.over()
}

// over reports whether it is as good as known how the turn of an idle session ended.
func (a *awaited) over() bool {
	if !begins(a.now) {
		return true
	}
	if a.idle.IsZero() {
		a.idle = time.Now()
	}
	return time.Since(a.idle) >= watch.TurnEndDelay
}

// absent names the sessions that are not there yet.
func (w *waiting) absent() string {
	var names []string
	for _, a := range w.sessions {
		if !a.there {
			names = append(names, fmt.Sprintf("%s (%s)", idOf(a.now), a.now.Status))
		}
	}
	return strings.Join(names, ", ")
}

// verdict is how the last turns of the sessions ended: nil if well, as far as they have ended. unknown are those that
// cannot be told.
func (w *waiting) verdict() (unknown []string, err error) {
	var bad []string
	for _, a := range w.sessions {
		s := a.now
		if w.until == untilChange && begins(s) {
			continue
		}
		switch ending, known := endingOf(s); {
		case !known:
			unknown = append(unknown, idOf(s))
		case ending != "":
			bad = append(bad, ending)
		}
	}
	if len(bad) > 0 {
		err = errors.New(strings.Join(bad, "; "))
	}
	return unknown, err
}

// begins reports whether an idle session has a turn in progress in its storage: the agent stores the prompt before its process
// shows that it is at work (SEEN Claude Code 2.1.330 in a terminal, 5 ms in one turn), so that the turn has hardly been cut.
func begins(s discover.Session) bool {
	return s.Status == discover.Idle && (s.Turn.State == discover.TurnOpen || s.Turn.State == discover.TurnWaiting)
}

// endingOf says what was wrong with the end of a session's last turn, "" if nothing; a turn in progress has none.
func endingOf(s discover.Session) (wrong string, known bool) {
	if s.Status != discover.Idle && s.Status != discover.Stopped {
		return "", true
	}
	switch state := s.Turn.State; {
	case s.Outcome == discover.Completed, s.Outcome == "" && state == discover.TurnDone, state == discover.TurnNone:
		return "", true
	case s.Error != "", s.Outcome == discover.Failed, state == discover.TurnFailed:
		return fmt.Sprintf("the last turn of %s failed: %s", idOf(s), s.Error), true
	case s.Outcome == discover.OutcomeUnknown, state == discover.TurnUnknown:
		return "", false
	}
	if s.Status == discover.Idle {
		return fmt.Sprintf("the last turn of %s was cut; the session is live, and idle", idOf(s)), true
	}
	return fmt.Sprintf("the last turn of %s was cut", idOf(s)), true
}

// idOf is the session's ID, or what stands for it where no evidence names one.
func idOf(s discover.Session) string {
	switch {
	case s.ID != "":
		return s.ID
	case len(s.Processes) > 0:
		return fmt.Sprintf("pid:%d", s.Processes[0].ID.PID)
	}
	return "-"
}
