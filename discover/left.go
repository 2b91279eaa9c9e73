package discover

import (
	"time"

	"agentctl/proc"
)

// turn is how the newest turn stands where processes run the session, before what they show of it themselves. A turn ends
// with the process that it was asked of, though no storage says so: who has the session now, and came later, has taken over
// a turn that was cut.
func (j *join) turn(s *Session, live []Claim) Turn {
	turn := s.Turn
	left := j.all(live, func(p proc.Process, claim Claim) bool { return j.foreign(s.Turn, claim) || later(p, s.Turn.Began) })
	// The clock may have been set since, or have stood still with the machine, which makes all processes younger than they
	// are: who has written since it began may well be at work.
	untouched := j.all(live, func(p proc.Process, claim Claim) bool { return j.foreign(s.Turn, claim) || later(p, s.Updated) })
	if left && untouched && (turn.State == TurnOpen || turn.State == TurnWaiting) {
		turn = Turn{State: TurnInterrupted, Began: turn.Began}
		s.Turn = turn
	}
	left = left || untouched && s.Turn.Began.IsZero() // what was stored before a process began, was begun before
	if !turn.Silent.IsZero() && j.started(s, turn.Silent) {
		turn = Turn{State: TurnOpen, Detail: turn.Detail, Began: turn.Began, Headless: turn.Headless}
		s.Turn = turn
	}
	for _, c := range live {
		// What is not in storage yet, the process tells: it is there from its first moment on. So is the turn of a headless
		// run, while storage has only those of others; its sub-agents may be at work or not.
		p := j.presences[owner{c.Agent, c.Process}]
		if p.Shared || p.Turn == nil {
			continue
		}
		if turn.State == TurnNone || left && headless(p) && !s.IsSub() {
			turn = *p.Turn
		}
	}
	return turn
}

// all reports whether there are claims, and what is asked is so of every one.
func (j *join) all(live []Claim, is func(proc.Process, Claim) bool) bool {
	for _, c := range live {
		if p, ok := j.table.Find(c.Process); !ok || p.Begun().IsZero() || !is(p, c) {
			return false
		}
	}
	return len(live) > 0
}

// foreign reports whether a turn is another process's by what is stored of it: a headless run's, which the claimant is not.
func (j *join) foreign(t Turn, c Claim) bool {
	return t.Headless && !headless(j.presences[owner{c.Agent, c.Process}])
}

// started reports whether a process of the session has a living child that it may have had since.
func (j *join) started(s *Session, since time.Time) bool {
	const blur = 50 * time.Millisecond // of the clocks
	for _, p := range s.Processes {
		for child := range j.table.Children(p.ID.PID) {
			if begun := child.Begun(); child.Alive() && (begun.IsZero() || !begun.Add(blur).Before(since)) {
				return true
			}
		}
	}
	return false
}

// later reports whether a process has begun after that moment, where it is known.
func later(p proc.Process, t time.Time) bool { return !t.IsZero() && !p.Before(t) }

// headless reports whether a presence is that of a headless run: it has a turn from its start to its end.
func headless(presence Claim) bool {
	return presence.Turn != nil && presence.Turn.State == TurnOpen
}
