package watch

import (
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

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
