package discover

import (
	"time"

	"agentctl/proc"
)

// turnOwner says whose the stored turn of a session is, seen from the live processes that run the session. A turn ends
// with the process that it was asked of, though no storage says so.
type turnOwner struct {
	// ownerEnded: the process that the turn was asked of has ended; those that run the session came later.
	ownerEnded bool
	// childStarted: a process of the session has a child that began after the turn fell silent, so that it works and waits for nobody.
	childStarted bool
	// processTurns are the turns that the processes have from their first moment on, before storage has them.
	processTurns []processTurn
}

type processTurn struct {
	Turn
	// replaces: storage has only the turns of earlier processes.
	replaces bool
}

// correct returns the stored turn as it is for its owner.
func (o *turnOwner) correct(stored Turn) Turn {
	switch {
	case o.ownerEnded && (stored.State == TurnOpen || stored.State == TurnWaiting):
		return Turn{State: TurnInterrupted, Began: stored.Began}
	case o.childStarted:
		return Turn{State: TurnOpen, Detail: stored.Detail, Began: stored.Began, Headless: stored.Headless}
	}
	return stored
}

// substitute returns the processes' own turn where storage has none of theirs, or else the stored one.
func (o *turnOwner) substitute(turn Turn) Turn {
	for _, own := range o.processTurns {
		if turn.State == TurnNone || own.replaces {
			turn = own.Turn
		}
	}
	return turn
}

// turnOwner finds out whose the session's stored turn is.
func (j *correlation) turnOwner(s *Session, claims []Claim) (o turnOwner) {
	if len(claims) == 0 {
		return o
	}
	after := func(t time.Time) bool {
		return j.allProcesses(claims, func(p proc.Process, c Claim) bool { return j.isForeignTurn(s.Turn, c) || startedAfter(p, t) })
	}
	// The clock may have been set since, or have stood still with the machine, which makes all processes younger than they
	// are: a process that has written since it began may well be at work.
	asked, written := after(s.Turn.Began), after(s.Updated)
	o.ownerEnded = asked && written
	o.childStarted = !s.Turn.SilentSince.IsZero() && j.hasChildSince(s, s.Turn.SilentSince)
	// What was stored before a process began, was begun before.
	left := asked || written && s.Turn.Began.IsZero()
	for _, c := range claims {
		p := j.presences[agentProcess{c.Agent, c.Process}]
		if !p.Shared && p.Turn != nil {
			// A headless run has its turn from its first moment on; its sub-agents may be at work or not.
			o.processTurns = append(o.processTurns, processTurn{*p.Turn, left && isHeadless(p) && !s.IsSubagent()})
		}
	}
	return o
}

// allProcesses reports whether a condition holds for the process of every claim.
func (j *correlation) allProcesses(claims []Claim, holds func(proc.Process, Claim) bool) bool {
	for _, c := range claims {
		if p, ok := j.table.Find(c.Process); !ok || p.PreciseStart().IsZero() || !holds(p, c) {
			return false
		}
	}
	return true
}

// isForeignTurn reports whether a turn is another process's by what is stored of it: a headless run's, which the claimant is not.
func (j *correlation) isForeignTurn(t Turn, c Claim) bool {
	return t.Headless && !isHeadless(j.presences[agentProcess{c.Agent, c.Process}])
}

// hasChildSince reports whether a process of the session has a living child that it may have had since.
func (j *correlation) hasChildSince(s *Session, since time.Time) bool {
	const blur = 50 * time.Millisecond // of the clocks
	for _, p := range s.Processes {
		for child := range j.table.Children(p.ID.PID) {
			if begun := child.PreciseStart(); child.Alive() && (begun.IsZero() || !begun.Add(blur).Before(since)) {
				return true
			}
		}
	}
	return false
}

// startedAfter reports whether a process has begun after that moment, where it is known.
func startedAfter(p proc.Process, t time.Time) bool { return !t.IsZero() && !p.StartedBefore(t) }

// isHeadless reports whether a presence is that of a headless run: it has a turn from its start to its end.
func isHeadless(presence Claim) bool {
	return presence.Turn != nil && presence.Turn.State == TurnOpen
}
