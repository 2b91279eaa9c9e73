package render

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
	Considered []Considered `json:"considered"`
}

// Considered is one piece of evidence, as it was judged.
type Considered struct {
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
	x := &Explanation{Verdict: verdict(s), Turn: turnWord(s.Turn.State), Considered: []Considered{}}
	for _, e := range s.Evidence {
		c := Considered{
			PID: e.Process.PID, Strength: e.Strength.String(), Kind: kind(e), Detail: detail(e),
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

// verdict repeats in words what the judgement was made from; it judges nothing itself.
func verdict(s discover.Session) string {
	if s.Status == discover.Stopped {
		return fmt.Sprintf("no live process runs it; by its storage the last turn %s", turnPhrase(s.Turn.State))
	}
	if s.Status == discover.Unknown {
		return "whether a process runs it is not known: see the evidence considered"
	}
	var pids []string
	for _, p := range s.Processes {
		pids = append(pids, fmt.Sprint(p.ID.PID))
	}
	who := "process " + strings.Join(pids, ", ")
	for _, e := range s.Evidence {
		if e.Accepted && e.Claim.Turn != nil {
			return fmt.Sprintf("%s is live and shows that the turn %s", who, turnPhrase(e.Claim.Turn.State))
		}
	}
	if !s.Turn.Silent.IsZero() {
		return who + " is live; its storage has no result of the last tool call, and no command of that call runs: it waits for permission"
	}
	return fmt.Sprintf("%s is live; by its storage the turn %s", who, turnPhrase(s.Turn.State))
}

// turnWord is the word for a turn's state in JSON.
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

func turnPhrase(t discover.TurnState) string {
	switch t {
	case discover.TurnNone:
		return "has not begun"
	case discover.TurnOpen:
		return "is in progress"
	case discover.TurnWaiting:
		return "is blocked on the person"
	case discover.TurnDone:
		return "has ended"
	case discover.TurnInterrupted:
		return "was cut short"
	case discover.TurnFailed:
		return "has failed"
	}
	return "is not known"
}

// write prints the explanation below a status block.
func (x *Explanation) write(w io.Writer) {
	fmt.Fprintf(w, "\nwhy: %s\n", Clean(x.Verdict))
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
		fmt.Fprintf(w, "  %s pid %d  %s %s: %s\n", mark, c.PID, c.Strength, Clean(c.Kind), Clean(c.Detail))
		if c.Turn != "" {
			fmt.Fprintf(w, "      it shows the turn: %s\n", c.Turn)
		}
		fmt.Fprintf(w, "      %s\n", Clean(c.Why))
	}
}
