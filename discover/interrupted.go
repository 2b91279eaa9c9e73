package discover

import (
	"cmp"
	"slices"
)

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
