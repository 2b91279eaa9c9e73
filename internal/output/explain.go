package output

import (
	"fmt"
	"io"
	"strings"

	"agentctl/discover"
)

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

// verdict describes how the status was decided. It decides nothing itself.
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
	processes := "process " + strings.Join(pids, ", ")
	for _, e := range s.Evidence {
		if e.Accepted && e.Claim.Turn != nil {
			_, shown := turnText(e.Claim.Turn.State)
			return fmt.Sprintf("%s is live and shows that the turn %s", processes, shown)
		}
	}
	if !s.Turn.SilentSince.IsZero() {
		return processes + " is live; its storage has no result of the last tool call, and no command of that call runs: it waits for permission"
	}
	return fmt.Sprintf("%s is live; its newest turn %s", processes, stored)
}

// turnText returns the state of a turn as a word, for JSON, and as the predicate of a sentence.
func turnText(t discover.TurnState) (word, phrase string) {
	switch t {
	case discover.TurnNone:
		return "none", "has not begun"
	case discover.TurnOpen:
		return "open", "is in progress"
	case discover.TurnWaiting:
		return "waiting", "is blocked on the user"
	case discover.TurnDone:
		return "done", "has ended"
	case discover.TurnInterrupted:
		return "interrupted", "was cut short"
	case discover.TurnFailed:
		return "failed", "has failed"
	}
	return "unknown", "is not known"
}

// write prints the explanation, as status --explain does below the details.
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
