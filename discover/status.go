package discover

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

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

// statusInput is all that bears on the status of a session beside its newest turn, as storage has it.
type statusInput struct {
	// vanished: neither storage nor a process names the session any more, so its outcome is not known.
	vanished bool
	// claims are the accepted claims of live processes; there are none if no process is known to run the session.
	claims []Claim
	// owner is what is known of the process that the stored turn belongs to.
	owner turnOwner
	// hidden says why a process may run the session although no claim is accepted: processes are out of sight, or what they show
	// fits several sessions. "" if none may.
	hidden string
	// possible says which process may run the session between two turns, where that leaves no trace. "" if none may.
	possible string
	// absence is what was searched for processes that run the session.
	absence absence
}

// setStatus decides the status of a session, with its outcome and the reason. No other function does. A session without an accepted claim
// is stopped, whatever storage says, unless a process that may run it is out of sight. A session with a live process is never stopped,
// however its turn ended; its turn is then corrected for whose it is.
func (s *Session) setStatus(in *statusInput) {
	s.Outcome, s.WaitingFor, s.WaitingOn, s.Error = "", "", nil, ""
	switch {
	case len(in.claims) > 0:
		s.setLive(in)
	case in.hidden != "":
		s.Status, s.Reason = Unknown, "whether a process runs it is not known: "+in.hidden
	default:
		s.setStopped(in)
	}
}

// setLive decides for a session that live processes run: by what they show of the turn, or else by the stored turn.
func (s *Session) setLive(in *statusInput) {
	stored, why := in.owner.correct(s.Turn)
	s.Turn = stored // the record is a copy
	live := liveText(in.claims)
	if i := slices.IndexFunc(in.claims, func(c Claim) bool { return c.Unreadable != "" }); i >= 0 {
		s.Status, s.Reason = Unknown, live+"; what process "+pidText(in.claims[i])+" does is not known: "+in.claims[i].Unreadable
		return
	}
	fallback, why := in.owner.substitute(stored, why)
	turn := fallback
	if shown := mostUrgent(in.claims); shown != nil {
		turn = *shown.Turn
		s.Reason = live + shownText(in.claims, shown, fallback)
	} else {
		s.Reason = live + "; " + why
	}
	s.Status = Idle
	switch turn.State {
	case TurnWaiting:
		s.Status, s.WaitingFor, s.WaitingOn = Waiting, turn.WaitingFor, turn.WaitingOn
	case TurnOpen, TurnUnknown:
		s.Status = Running
	default:
		// A process that shows an ended turn does not say how it ended; storage does.
		if s.Error = turn.Error; fallback.State == TurnFailed {
			s.Error = fallback.Error
		}
	}
}

// setStopped decides for a session that no process runs.
func (s *Session) setStopped(in *statusInput) {
	s.Status, s.Outcome = Stopped, OutcomeUnknown
	if in.vanished {
		s.Reason = in.absence.text() + "; its storage does not have it any more"
		return
	}
	s.Reason = in.absence.text()
	if in.possible != "" {
		s.Reason = "no process is known to run it; " + in.possible
	}
	s.Reason += "; " + s.Turn.lastText()
	switch s.Turn.State {
	case TurnDone:
		s.Outcome = Completed
	case TurnOpen, TurnWaiting, TurnInterrupted:
		s.Outcome = Interrupted
	case TurnFailed:
		s.Outcome, s.Error = Failed, s.Turn.Error
	}
}

// mostUrgent returns the claim that shows the most urgent turn; nil if none shows any.
func mostUrgent(claims []Claim) (shown *Claim) {
	for i, c := range claims {
		if c.Turn != nil && (shown == nil || urgency(c.Turn.State) > urgency(shown.Turn.State)) {
			shown = &claims[i]
		}
	}
	return shown
}

// urgency ranks the turns that several claims show of one session: a turn that waits for the user, then one in progress, then
// one that may be. The rest has a rank so that the order of the claims does not matter.
func urgency(s TurnState) int {
	return slices.Index([]TurnState{
		TurnNone, TurnDone, TurnInterrupted, TurnFailed, TurnUnknown, TurnOpen, TurnWaiting,
	}, s)
}

// Vanished returns the session as it is when neither storage nor a process names it any more: stopped, with an unknown
// outcome.
func (s Session) Vanished() Session {
	s.Processes, s.Clients, s.Evidence, s.Shared = nil, nil, nil, false
	s.setStatus(&statusInput{vanished: true})
	return s
}

// CutOff is what a session was doing when its process ended in the middle of a turn. With neither member, the turn was between two steps,
// or storage does not say.
type CutOff struct {
	// Call is the newest call without a result; nil if there is none.
	Call *WaitingOn
	// Prompt is the prompt that nothing follows; "" if there is none.
	Prompt string
}

// CutOff returns what a stopped session was doing when its process ended; nil if it was in no turn, as after the user has interrupted it.
func (s Session) CutOff() *CutOff {
	if s.Outcome != Interrupted || s.Turn.State == TurnInterrupted && !s.Turn.Cut {
		return nil
	}
	return &CutOff{cmp.Or(s.Turn.OpenCall, s.Turn.WaitingOn), s.Turn.Prompt}
}

// WasOpen reports whether a stopped session was open, and at rest, when its process was killed: the process has left behind what it
// removes when it ends by itself. It is false for a headless run, which is never at rest.
func (s Session) WasOpen() bool {
	left := func(e Evidence) bool { return e.LeftBehind && !isHeadlessSource(cmp.Or(e.Source, s.Source)) }
	return s.Status == Stopped && s.CutOff() == nil && !s.IsSubagent() && slices.ContainsFunc(s.Evidence, left)
}

// absence is what was searched before a session is called stopped. The zero value: it was not counted.
type absence struct {
	// searched is how many of our user's processes were asked for what they hold; unreadable is how many could not be.
	searched, unreadable int
}

// text says what the search has found: nothing.
func (a absence) text() string {
	text := "no live process runs it"
	if a.searched > 0 {
		text += ": none of " + strconv.Itoa(a.searched) + " processes that were searched shows it"
	}
	if a.unreadable > 0 {
		text += ", and " + strconv.Itoa(a.unreadable) + " could not be searched"
	}
	return text
}

// liveText says which processes run the session.
func liveText(claims []Claim) string {
	pids := pidTexts(claims)
	text := "process " + pids[0] + " is live"
	if len(pids) > 1 {
		text = "processes " + strings.Join(pids, ", ") + " are live"
	}
	switch c := claims[0]; {
	case c.Session == "" && c.NameOnly:
		text += ", only its name says that it is the agent, and nothing names its session"
	case c.Session == "":
		text += ", and nothing names its session"
	}
	return text
}

// shownText goes on with what a claim shows of the turn. stored is the turn that it beats.
func shownText(claims []Claim, shown *Claim, stored Turn) string {
	text := " and shows that the turn "
	switch {
	case len(pidTexts(claims)) > 1:
		text = "; process " + pidText(*shown) + " shows that the turn "
	case shown.Session == "":
		text = "; it shows that the turn "
	}
	text += shown.Turn.State.phrase()
	if shown.Turn.State == TurnDone && stored.State == TurnFailed {
		text += "; by its storage it has failed"
	}
	return text
}

// pidTexts are the pids of claims, each once.
func pidTexts(claims []Claim) (pids []string) {
	for _, c := range claims {
		if pid := pidText(c); !slices.Contains(pids, pid) {
			pids = append(pids, pid)
		}
	}
	return pids
}

func pidText(c Claim) string { return strconv.Itoa(c.Process.PID) }

// newestText says what the turn of a live session is.
func (t Turn) newestText() string {
	switch {
	case t.State == TurnNone:
		return "nothing was asked yet"
	case t.State == TurnUnknown:
		return "nothing says whether its newest turn has ended"
	case t.State == TurnWaiting && !t.SilentSince.IsZero():
		return "its storage has no result of the last tool call, and no command of that call runs: it waits for permission"
	}
	return "its newest stored turn " + t.State.phrase()
}

// lastText says what the turn of a stopped session is.
func (t Turn) lastText() string {
	switch t.State {
	case TurnNone:
		return "its transcript has no prompt"
	case TurnUnknown:
		return "its storage does not say how the last turn ended"
	case TurnOpen:
		return "its transcript ends in mid-turn, so the turn was cut short"
	case TurnWaiting:
		return "its transcript ends while it waits for the user, so the turn was cut short"
	}
	return "its last stored turn " + t.State.phrase()
}

// phrase is a state as the predicate of a sentence.
func (s TurnState) phrase() string {
	return [...]string{
		TurnUnknown: "may be in progress", TurnNone: "has not begun", TurnOpen: "is in progress", TurnWaiting: "is blocked on the user",
		TurnDone: "has ended", TurnInterrupted: "was cut short", TurnFailed: "has failed",
	}[s]
}
