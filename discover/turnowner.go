package discover

import (
	"time"

	"agentctl/proc"
)

// turnOwner is what is known of the process that the stored turn belongs to, from the live processes that run the session. A
// turn ends with its process, though no storage says so.
type turnOwner struct {
	// ownerEnded: the process of the turn has ended; those that run the session started later.
	ownerEnded bool
	// childStarted: a process of the session has a child that started after the last record, so the turn is at work and does not
	// wait for permission.
	childStarted bool
	// processTurns are the turns that processes have from their start on, before storage has them.
	processTurns []processTurn
}

type processTurn struct {
	Turn
	// replaces: storage has only the turns of earlier processes.
	replaces bool
}

// correct returns the stored turn as the processes show it, and says why it is so: interrupted if its process has ended; open if it
// seemed to wait for permission and a child of the process has started since.
func (o *turnOwner) correct(stored Turn) (turn Turn, why string) {
	switch {
	case o.ownerEnded && (stored.State == TurnOpen || stored.State == TurnWaiting):
		return Turn{State: TurnInterrupted, Began: stored.Began},
			"the turn that its storage has is older than the process: it was cut short when an earlier process ended"
	case o.childStarted:
		return Turn{State: TurnOpen, Detail: stored.Detail, Began: stored.Began, Headless: stored.Headless},
			"its storage has no result of the last tool call, and the process has started a child since: the turn is in progress"
	}
	return stored, stored.newestText()
}

// substitute returns the turn of a process where storage does not have it yet, or else the stored turn, with the reason.
func (o *turnOwner) substitute(turn Turn, why string) (Turn, string) {
	for _, own := range o.processTurns {
		if turn.State == TurnNone || own.replaces {
			turn = own.Turn
			if why = turn.newestText(); turn.State != TurnNone {
				why = "its storage does not have the turn of this process yet, which " + turn.State.phrase()
			}
		}
	}
	return turn, why
}

// turnOwner finds out which process the session's stored turn belongs to.
func (cor *correlation) turnOwner(s *Session, claims []Claim) (o turnOwner) {
	if len(claims) == 0 {
		return o
	}
	// A turn of another process is older whatever the times say.
	fromEarlier := func(t time.Time) bool {
		return cor.allProcesses(claims, func(p proc.Process, c Claim) bool { return cor.isForeignTurn(s.Turn, c) || startedAfter(p, t) })
	}
	// The clock may have been set since, or have stood still with the machine, which makes all processes younger than they
	// are: a process that has written since it began may well be at work.
	askedEarlier, writtenEarlier := fromEarlier(s.Turn.Began), fromEarlier(s.Updated)
	o.ownerEnded = askedEarlier && writtenEarlier
	o.childStarted = !s.Turn.SilentSince.IsZero() && cor.hasChildSince(s, s.Turn.SilentSince)
	// What was stored before a process started belongs to an earlier one.
	replaces := askedEarlier || writtenEarlier && s.Turn.Began.IsZero()
	for _, c := range claims {
		p := cor.presences[agentProcess{c.Agent, c.Process}]
		if !p.Shared && p.Turn != nil {
			// A headless run has its turn from its first moment on; its sub-agents may be at work or not.
			o.processTurns = append(o.processTurns, processTurn{*p.Turn, replaces && isHeadlessSource(p.Source) && !s.IsSubagent()})
		}
	}
	return o
}

// allProcesses reports whether a condition holds for the process of every claim.
func (cor *correlation) allProcesses(claims []Claim, holds func(proc.Process, Claim) bool) bool {
	for _, c := range claims {
		if p, ok := cor.table.Find(c.Process); !ok || p.PreciseStart().IsZero() || !holds(p, c) {
			return false
		}
	}
	return true
}

// isForeignTurn reports whether a turn belongs to another process than the claim's: it began before this one ran the session, or, where
// that is not known, it is by its record a headless run's.
func (cor *correlation) isForeignTurn(t Turn, c Claim) bool {
	if !c.Since.IsZero() && !t.Began.IsZero() {
		const blur = 50 * time.Millisecond // records have milliseconds, and a turn can begin with its session
		return t.Began.Before(c.Since.Add(-blur))
	}
	return t.Headless && !isHeadlessSource(cor.presences[agentProcess{c.Agent, c.Process}].Source)
}

// hasChildSince reports whether a process of the session has a live child that may have started since then.
func (cor *correlation) hasChildSince(s *Session, since time.Time) bool {
	const blur = 50 * time.Millisecond // of the clocks
	for _, p := range s.Processes {
		for child := range cor.table.Children(p.ID.PID) {
			if begun := child.PreciseStart(); child.Alive() && (begun.IsZero() || !begun.Add(blur).Before(since)) {
				return true
			}
		}
	}
	return false
}

// startedAfter reports whether a process started after that time, if the time is known.
func startedAfter(p proc.Process, t time.Time) bool { return !t.IsZero() && !p.StartedBefore(t) }
