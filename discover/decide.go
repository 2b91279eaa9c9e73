package discover

import "slices"

// verdict is what decide says of one session.
type verdict struct {
	Status     Status
	Outcome    Outcome
	WaitingFor string
	WaitingOn  *WaitingOn
	Error      string
}

// decide is the only place where a status is made: from what storage says of the turn, and from the accepted claims
// of live processes. No claim means no live process, whatever storage says; a live process is never stopped, however
// its turn stands.
func decide(stored Turn, live []Claim) verdict {
	if len(live) == 0 {
		return decideStopped(&stored)
	}
	turn := stored
	for i, t := range shown(live) {
		if i == 0 || urgency(t.State) > urgency(turn.State) {
			turn = t
		}
	}
	v := verdict{Status: Idle}
	switch turn.State {
	case TurnWaiting:
		v.Status, v.WaitingFor, v.WaitingOn = Waiting, turn.WaitingFor, turn.On
	case TurnOpen, TurnUnknown:
		v.Status = Running
	default:
		// A process that shows an ended turn does not say how it ended; storage does.
		if v.Error = turn.Error; stored.State == TurnFailed {
			v.Error = stored.Error
		}
	}
	return v
}

func decideStopped(stored *Turn) verdict {
	v := verdict{Status: Stopped, Outcome: OutcomeUnknown}
	switch stored.State {
	case TurnDone:
		v.Outcome = Completed
	case TurnOpen, TurnWaiting, TurnInterrupted:
		v.Outcome = Interrupted
	case TurnFailed:
		v.Outcome, v.Error = Failed, stored.Error
	}
	return v
}

// shown returns the turns that processes show themselves.
func shown(live []Claim) []Turn {
	var turns []Turn
	for _, c := range live {
		if c.Turn != nil {
			turns = append(turns, *c.Turn)
		}
	}
	return turns
}

// urgency orders the turns that several claims show of one session: the one that needs the person counts, then the one
// that works, then what may be work. The rest is ordered so that the order of the claims cannot matter.
func urgency(s TurnState) int {
	return slices.Index([]TurnState{
		TurnNone, TurnDone, TurnInterrupted, TurnFailed, TurnUnknown, TurnOpen, TurnWaiting,
	}, s)
}
