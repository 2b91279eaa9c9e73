package discover

import (
	"slices"
	"strconv"
	"strings"

	"agentctl/proc"
)

// absence is what was searched before a session is called stopped. The zero value: it was not counted.
type absence struct {
	// searched is how many of our user's processes were asked for what they hold; unreadable is how many could not be.
	searched, unreadable int
}

// absenceIn counts the user's processes in a thorough table. It reads all of them, so only the explanation of one session is worth it.
func absenceIn(table *proc.Table, uid int) (a absence) {
	a.searched, a.unreadable = table.Examined(func(p proc.Process) bool { return p.UID == uid })
	return a
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
	return "by its storage the newest turn " + t.State.phrase()
}

// lastText says what the turn of a stopped session is.
func (t Turn) lastText() string {
	switch t.State {
	case TurnNone:
		return "by its storage nothing was asked"
	case TurnUnknown:
		return "its storage does not say how the last turn ended"
	case TurnOpen:
		return "by its storage the last turn was in progress, so it was cut short"
	case TurnWaiting:
		return "by its storage the last turn was blocked on the user, so it was cut short"
	}
	return "by its storage the last turn " + t.State.phrase()
}

// phrase is a state as the predicate of a sentence.
func (s TurnState) phrase() string {
	switch s {
	case TurnNone:
		return "has not begun"
	case TurnOpen:
		return "is in progress"
	case TurnWaiting:
		return "is blocked on the user"
	case TurnDone:
		return "has ended"
	case TurnInterrupted:
		return "was cut short"
	case TurnFailed:
		return "has failed"
	}
	return "may be in progress"
}
