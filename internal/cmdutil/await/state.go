package await

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/cmdutil"
)

// State is the state that sessions are awaited in.
type State string

const (
	Stopped   State = "stopped"    // its process has ended, serves it no longer, or only keeps it open ([discover.Session.Released])
	Idle      State = "idle"       // the turn is over
	Waiting   State = "waiting"    // the user is needed: asked something, or the turn is over
	AnyChange State = "any-change" // whatever makes an event of it
	Reset     State = "reset"      // the limits that it has reached are reset: see [UntilReset]
)

// States are the words that --until takes.
func States() []string {
	return []string{string(Stopped), string(Idle), string(Waiting), string(AnyChange), string(Reset)}
}

// Waiter waits for several sessions: each has to reach the state once, in any order.
type Waiter struct {
	until    State
	sessions []awaited
	// reached is called once for each session that has reached the state.
	reached func(discover.Session) error
}

// awaited is a session that is waited for.
type awaited struct {
	first discover.Session // as it was at first
	now   discover.Session // as last seen, or as it was when it got there
	done  bool
	idle  time.Time // when it was first seen idle, though not in the storage
}

// NewWaiter waits for n sessions; reached is called once for each that has reached the state.
func NewWaiter(u State, n int, arrived func(discover.Session) error) *Waiter {
	return &Waiter{until: u, sessions: make([]awaited, n), reached: arrived}
}

// Update takes the sessions' current state, and reports whether one is still to be waited for.
func (w *Waiter) Update(sessions []discover.Session) (more bool, err error) {
	for i, s := range sessions {
		a := &w.sessions[i]
		if a.first.Record == nil {
			a.first = s
		}
		if a.done {
			continue
		}
		a.now = s
		if a.done = a.reached(w.until); !a.done {
			more = true
		} else if err := w.reached(s); err != nil {
			return false, err
		}
	}
	return more, nil
}

func (a *awaited) reached(u State) bool {
	switch {
	case u == AnyChange:
		return watch.Changed(a.now, a.first)
	case a.now.Status == discover.Stopped:
		return true
	case a.now.Status == discover.Waiting:
		return u == Waiting
	}
	return a.now.Status == discover.Idle && (u != Stopped || a.now.Released()) && a.turnOver()
}

// turnOver reports whether an idle session's turn has ended, as far as storage tells within watch.TurnEndDelay.
func (a *awaited) turnOver() bool {
	if !turnBegins(a.now) {
		return true
	}
	if a.idle.IsZero() {
		a.idle = time.Now()
	}
	return time.Since(a.idle) >= watch.TurnEndDelay
}

// missing names the sessions that have not reached the state.
func (w *Waiter) missing() string {
	var names []string
	for _, a := range w.sessions {
		if !a.done {
			names = append(names, fmt.Sprintf("%s (%s)", cmdutil.SessionName(a.now), a.now.Status))
		}
	}
	return strings.Join(names, ", ")
}

// turnErrors returns the error of the sessions' last turns, nil if all that have ended ended well. unknown are the
// sessions whose turn's end is not known.
func (w *Waiter) turnErrors() (unknown []string, err error) {
	var bad []string
	for _, a := range w.sessions {
		s := a.now
		if w.until == AnyChange && turnBegins(s) {
			continue
		}
		switch ending, known := turnError(s); {
		case !known:
			unknown = append(unknown, cmdutil.SessionName(s))
		case ending != "":
			bad = append(bad, ending)
		}
	}
	if len(bad) > 0 {
		err = errors.New(strings.Join(bad, "; "))
	}
	return unknown, err
}

// turnBegins reports whether an idle session has a turn in progress in its storage: the agent stores the prompt before
// its process shows that it works (SEEN Claude Code 2.1.330 in a terminal, 5 ms in one turn), so that the turn has
// hardly been cut off.
func turnBegins(s discover.Session) bool {
	return s.Status == discover.Idle && (s.Turn.State == discover.TurnOpen || s.Turn.State == discover.TurnWaiting)
}

// turnError describes the error of a session's last turn, "" if there is none or the turn goes on.
func turnError(s discover.Session) (wrong string, known bool) {
	if s.Status != discover.Idle && s.Status != discover.Stopped {
		return "", true
	}
	switch state := s.Turn.State; {
	case s.Outcome == discover.Completed, s.Outcome == "" && state == discover.TurnDone, state == discover.TurnNone:
		return "", true
	case s.Error != "", s.Outcome == discover.Failed, state == discover.TurnFailed:
		return fmt.Sprintf("the last turn of %s failed: %s", cmdutil.SessionName(s), s.Error), true
	case s.Outcome == discover.OutcomeUnknown, state == discover.TurnUnknown:
		return "", false
	}
	if s.Status == discover.Idle {
		return fmt.Sprintf("the last turn of %s was cut; the session is live, and idle", cmdutil.SessionName(s)), true
	}
	return fmt.Sprintf("the last turn of %s was cut", cmdutil.SessionName(s)), true
}
