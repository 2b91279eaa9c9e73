package cli

import (
	"errors"
	"fmt"
	"slices"
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
	until until
	first []discover.Session // of the first look
	now   []discover.Session // as last seen, or as it was when it got there
	there []bool
	idle  []time.Time // when it was first seen idle, though not in the storage
	// arrived is called once for each session that is there.
	arrived func(discover.Session) error
}

func newWaiting(u until, n int, arrived func(discover.Session) error) *waiting {
	return &waiting{
		until: u, now: make([]discover.Session, n), there: make([]bool, n), idle: make([]time.Time, n), arrived: arrived,
	}
}

// see takes what is true of the sessions, and reports whether one is still to be waited for.
func (w *waiting) see(sessions []discover.Session) (more bool, err error) {
	if w.first == nil {
		w.first = sessions
	}
	for i, s := range sessions {
		if w.there[i] {
			continue
		}
		w.now[i] = s
		if w.there[i] = w.reached(i, s); w.there[i] {
			if err := w.arrived(s); err != nil {
				return false, err
			}
		}
	}
	return slices.Contains(w.there, false), nil
}

func (w *waiting) reached(i int, s discover.Session) bool {
	switch {
	case w.until == untilChange:
		return watch.Changed(s, w.first[i])
	case s.Status == discover.Stopped:
		return true
	case s.Status == discover.Waiting:
		return w.until == untilWaiting
	}
	return s.Status == discover.Idle && w.until != untilStopped && w.over(i, s)
}

// over reports whether it is as good as known how the turn of an idle session ended.
func (w *waiting) over(i int, s discover.Session) bool {
	if !begins(s) {
		return true
	}
	if w.idle[i].IsZero() {
		w.idle[i] = time.Now()
	}
	return time.Since(w.idle[i]) >= watch.TurnEndDelay
}

// absent names the sessions that are not there yet.
func (w *waiting) absent() string {
	var names []string
	for i, s := range w.now {
		if !w.there[i] {
			names = append(names, fmt.Sprintf("%s (%s)", idOf(s), s.Status))
		}
	}
	return strings.Join(names, ", ")
}

// verdict is how the last turns of the sessions ended: nil if well, as far as they have ended. unknown are those that
// cannot be told.
func (w *waiting) verdict() (unknown []string, err error) {
	var bad []string
	for _, s := range w.now {
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
