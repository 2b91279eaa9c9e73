package output

import (
	"fmt"
	"io"
	"strings"

	"agentctl/discover"
)

// Explanation is every piece of evidence about a session, and why it has the status it has.
type Explanation struct {
	// Verdict is the reason for the status, in a sentence.
	Verdict string `json:"verdict"`
	// Turn is how far the newest turn has got, by what is stored.
	Turn string `json:"turn"`
	// Considered are the pieces of evidence, the accepted ones first.
	Considered []ConsideredEvidence `json:"considered"`
}

// ConsideredEvidence is one piece of evidence, as it was judged.
type ConsideredEvidence struct {
	PID      int    `json:"pid"`
	Strength string `json:"strength"`
	Kind     string `json:"kind"`
	Detail   string `json:"detail"`
	// Turn is what the process itself shows of the turn; "" where it shows nothing.
	Turn     string `json:"turn,omitempty"`
	Accepted bool   `json:"accepted"`
	Why      string `json:"why"`
}

// Explain puts the evidence about a session into words.
func Explain(s discover.Session) *Explanation {
	x := &Explanation{Verdict: verdict(s), Considered: []ConsideredEvidence{}}
	x.Turn, _ = turnText(s.Turn.State)
	for _, e := range s.Evidence {
		c := ConsideredEvidence{
			PID: e.Process.PID, Strength: e.Strength.String(), Kind: evidenceKind(e), Detail: evidenceDetail(e),
			Accepted: e.Accepted, Why: e.Why,
		}
		if e.Unreadable != "" {
			c.Detail = e.Unreadable
		}
		if e.Claim.Turn != nil {
			c.Turn, _ = turnText(e.Claim.Turn.State)
		}
		x.Considered = append(x.Considered, c)
	}
	return x
}

// verdict repeats in words what the judgement was made from; it judges nothing itself.
func verdict(s discover.Session) string {
	_, stored := turnText(s.Turn.State)
	switch s.Status {
	case discover.Stopped:
		return "no live process runs it; by its storage the last turn " + stored
	case discover.Unknown:
		return "whether a process runs it is not known: see the evidence considered"
	}
	var pids []string
	for _, p := range s.Processes {
		pids = append(pids, fmt.Sprint(p.ID.PID))
	}
	who := "process " + strings.Join(pids, ", ")
	for _, e := range s.Evidence {
		if e.Accepted && e.Claim.Turn != nil {
			_, shown := turnText(e.Claim.Turn.State)
			return fmt.Sprintf("%s is live and shows that the turn %s", who, shown)
		}
	}
	if !s.Turn.Silent.IsZero() {
		return who + " is live; its storage has no result of the last tool call, and no command of that call runs: it waits for permission"
	}
	return fmt.Sprintf("%s is live; by its storage the turn %s", who, stored)
}

// turnText are a turn's state as a word, for JSON, and as what a sentence says of the turn.
func turnText(t discover.TurnState) (word, phrase string) {
	switch t {
	case discover.TurnNone:
		return "none", "has not begun"
	case discover.TurnOpen:
		return "open", "is in progress"
	case discover.TurnWaiting:
		return "waiting", "is blocked on the person"
	case discover.TurnDone:
		return "done", "has ended"
	case discover.TurnInterrupted:
		return "interrupted", "was cut short"
	case discover.TurnFailed:
		return "failed", "has failed"
	}
	return "unknown", "is not known"
}

// write prints the explanation below a status block.
func (x *Explanation) write(w io.Writer) {
	fmt.Fprintf(w, "\nwhy: %s\n", Sanitize(x.Verdict))
	if len(x.Considered) == 0 {
		fmt.Fprintln(w, "no process gives any evidence of it")
		return
	}
	fmt.Fprintln(w, "evidence considered:")
	for _, c := range x.Considered {
		mark := "-"
		if c.Accepted {
			mark = "+"
		}
		fmt.Fprintf(w, "  %s pid %d  %s %s: %s\n", mark, c.PID, c.Strength, Sanitize(c.Kind), Sanitize(c.Detail))
		if c.Turn != "" {
			fmt.Fprintf(w, "      it shows the turn: %s\n", c.Turn)
		}
		fmt.Fprintf(w, "      %s\n", Sanitize(c.Why))
	}
}
