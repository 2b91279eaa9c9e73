package object

import "agentctl/discover"

// Explanation says why a session has its status, and lists all evidence about it.
type Explanation struct {
	// Verdict is the reason for the status, as a sentence.
	Verdict string `json:"verdict"`
	// Turn is the state of the newest turn according to storage.
	Turn string `json:"turn"`
	// Considered is the evidence, accepted evidence first.
	Considered []ConsideredEvidence `json:"considered"`
}

// ConsideredEvidence is one piece of evidence, and whether correlation accepted it.
type ConsideredEvidence struct {
	PID      int    `json:"pid"`
	Strength string `json:"strength"`
	Kind     string `json:"kind"`
	Detail   string `json:"detail"`
	// Turn is the state of the turn that the process itself reports; "" if it reports none.
	Turn     string `json:"turn,omitempty"`
	Accepted bool   `json:"accepted"`
	Why      string `json:"why"`
}

// Explain describes the evidence about a session.
func Explain(s discover.Session) *Explanation {
	x := &Explanation{Verdict: s.Reason, Turn: turnWord(s.Turn.State), Considered: []ConsideredEvidence{}}
	for _, e := range s.Evidence {
		c := ConsideredEvidence{
			PID: e.Process.PID, Strength: e.Strength.String(), Kind: evidenceKind(e), Detail: evidenceDetail(e),
			Accepted: e.Accepted, Why: e.Why,
		}
		if e.Unreadable != "" {
			c.Detail = e.Unreadable
		}
		if e.Claim.Turn != nil {
			c.Turn = turnWord(e.Claim.Turn.State)
		}
		x.Considered = append(x.Considered, c)
	}
	return x
}

func turnWord(t discover.TurnState) string {
	switch t {
	case discover.TurnNone:
		return "none"
	case discover.TurnOpen:
		return "open"
	case discover.TurnWaiting:
		return "waiting"
	case discover.TurnDone:
		return "done"
	case discover.TurnInterrupted:
		return "interrupted"
	case discover.TurnFailed:
		return "failed"
	}
	return "unknown"
}
