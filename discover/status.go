package discover

import "slices"

// Status is the answer to "what is this session doing?".
type Status string

// The statuses; docs/cli.md gives their meaning for users.
const (
	Running Status = "running" // live, a turn is in progress, or it cannot be told
	Waiting Status = "waiting" // live, blocked on the user
	Idle    Status = "idle"    // live, the last turn has ended
	Stopped Status = "stopped" // no live process
	Unknown Status = "unknown" // the evidence cannot be read, or fits several sessions
)

// Live reports whether a process runs the session, or may.
func (s Status) Live() bool { return s != Stopped }

// Outcome says how a stopped session's last turn ended.
type Outcome string

// The outcomes of a stopped session.
const (
	Completed      Outcome = "completed"
	Interrupted    Outcome = "interrupted"
	Failed         Outcome = "error"
	OutcomeUnknown Outcome = "unknown"
)

// statusInput is all that bears on the status of a session.
type statusInput struct {
	// stored is the session's newest turn as storage has it.
	stored Turn
	// vanished: neither storage nor a process names the session any more, so its outcome is not known.
	vanished bool
	// claims are the accepted claims of live processes; there are none if no process is known to run the session.
	claims []Claim
	// owner is what is known of the process that the stored turn belongs to.
	owner turnOwner
	// mayBeHidden: a process may run the session although no claim is accepted, because processes are out of sight or because
	// what they show fits several sessions.
	mayBeHidden bool
	// debounce is what a watcher knows of an earlier snapshot; the zero value without a watcher.
	debounce StopDebounce
}

// statusDecision is the status of a session with all that follows from it.
type statusDecision struct {
	Status     Status
	Outcome    Outcome
	WaitingFor string
	WaitingOn  *WaitingOn
	Error      string
	// turn is the stored turn, corrected for ownership.
	turn Turn
	// stopPending: the session seems to have stopped and is not believed to have, so that all of it stays as it was.
	stopPending bool
}

// statusOf decides the status of a session. No other function does. A session without an accepted claim is stopped, whatever
// storage says, unless a process that may run it is out of sight. A session with a live process is never stopped, however its
// turn ended.
func statusOf(in *statusInput) statusDecision {
	d := statusDecision{turn: in.owner.correct(in.stored)}
	switch {
	case len(in.claims) > 0:
		d.setLive(in)
	case in.mayBeHidden:
		d.Status = Unknown
	case in.debounce.pending():
		return statusDecision{stopPending: true}
	default:
		d.setStopped(in.vanished)
	}
	return d
}

// setLive decides for a session that live processes run: by what they show of the turn, or else by the stored turn.
func (d *statusDecision) setLive(in *statusInput) {
	if slices.ContainsFunc(in.claims, func(c Claim) bool { return c.Unreadable != "" }) {
		d.Status = Unknown
		return
	}
	fallback := in.owner.substitute(d.turn)
	turn := mostUrgent(fallback, in.claims)
	d.Status = Idle
	switch turn.State {
	case TurnWaiting:
		d.Status, d.WaitingFor, d.WaitingOn = Waiting, turn.WaitingFor, turn.WaitingOn
	case TurnOpen, TurnUnknown:
		d.Status = Running
	default:
		// A process that shows an ended turn does not say how it ended; storage does.
		if d.Error = turn.Error; fallback.State == TurnFailed {
			d.Error = fallback.Error
		}
	}
}

// setStopped decides for a session that no process runs.
func (d *statusDecision) setStopped(vanished bool) {
	d.Status, d.Outcome = Stopped, OutcomeUnknown
	if vanished {
		return
	}
	switch d.turn.State {
	case TurnDone:
		d.Outcome = Completed
	case TurnOpen, TurnWaiting, TurnInterrupted:
		d.Outcome = Interrupted
	case TurnFailed:
		d.Outcome, d.Error = Failed, d.turn.Error
	}
}

// mostUrgent returns the most urgent of the turns that processes show, or the fallback if they show none.
func mostUrgent(fallback Turn, claims []Claim) Turn {
	turn, shown := fallback, false
	for _, c := range claims {
		if c.Turn != nil && (!shown || urgency(c.Turn.State) > urgency(turn.State)) {
			turn, shown = *c.Turn, true
		}
	}
	return turn
}

// urgency ranks the turns that several claims show of one session: a turn that waits for the user, then one in progress, then
// one that may be. The rest has a rank so that the order of the claims does not matter.
func urgency(s TurnState) int {
	return slices.Index([]TurnState{
		TurnNone, TurnDone, TurnInterrupted, TurnFailed, TurnUnknown, TurnOpen, TurnWaiting,
	}, s)
}

// StopDebounce is what a watcher knows of a session that was live and now looks stopped. A stop does not count at once while
// the process lives: what an agent shows may be unreadable for a moment, and an agent that ends releases its session before
// it exits (Codex 0.169: some milliseconds earlier, more on a busy machine).
type StopDebounce struct {
	// ProcessLives: a process that ran the session lives, and is not known to run another one now.
	ProcessLives bool
	// Headless: that process ends with the session, since it runs nothing else. Its stop never counts while it lives.
	Headless bool
	// Expired: the session has looked stopped for the debounce time.
	Expired bool
}

func (d StopDebounce) pending() bool { return d.ProcessLives && (d.Headless || !d.Expired) }

// setStatus sets the status of a session. Nothing else sets it.
func (s *Session) setStatus(in *statusInput) {
	d := statusOf(in)
	s.Status, s.Outcome, s.Error = d.Status, d.Outcome, d.Error
	s.WaitingFor, s.WaitingOn = d.WaitingFor, d.WaitingOn
	if len(in.claims) > 0 { // the record is then a copy
		s.Turn = d.turn
	}
}

// StopConfirmed reports whether a session that a watcher saw live has stopped for good.
func (s *Session) StopConfirmed(before StopDebounce) bool {
	return s.Status == Stopped && !statusOf(&statusInput{stored: s.Turn, debounce: before}).stopPending
}

// Vanished returns the session as it is when neither storage nor a process names it any more: stopped, with an unknown
// outcome.
func (s Session) Vanished() Session {
	s.Processes, s.Evidence, s.Shared = nil, nil, false
	s.setStatus(&statusInput{stored: s.Turn, vanished: true})
	return s
}
