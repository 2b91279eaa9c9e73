package discover

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"agentctl/proc"
)

func TestStatusOfTheTurnAndTheClaims(t *testing.T) {
	shows := func(s TurnState) []Claim { return []Claim{{Turn: &Turn{State: s, WaitingFor: "permission"}}} }
	silent := []Claim{{}}
	for _, c := range []struct {
		name   string
		stored Turn
		live   []Claim
		want   statusDecision
	}{
		{"dead, done", Turn{State: TurnDone}, nil, statusDecision{Status: Stopped, Outcome: Completed}},
		{"dead, mid-turn", Turn{State: TurnOpen}, nil, statusDecision{Status: Stopped, Outcome: Interrupted}},
		{"dead while it waited", Turn{State: TurnWaiting}, nil, statusDecision{Status: Stopped, Outcome: Interrupted}},
		{"dead, aborted", Turn{State: TurnInterrupted}, nil, statusDecision{Status: Stopped, Outcome: Interrupted}},
		{"dead, failed", Turn{State: TurnFailed, Error: "x"}, nil, statusDecision{Status: Stopped, Outcome: Failed, Error: "x"}},
		{"dead, never asked", Turn{State: TurnNone}, nil, statusDecision{Status: Stopped, Outcome: OutcomeUnknown}},
		{"dead, too old to tell", Turn{}, nil, statusDecision{Status: Stopped, Outcome: OutcomeUnknown}},
		{"live, cannot be told", Turn{}, silent, statusDecision{Status: Running}},
		{"live, never asked", Turn{State: TurnNone}, silent, statusDecision{Status: Idle}},
		{"live, mid-turn", Turn{State: TurnOpen}, silent, statusDecision{Status: Running}},
		{"live, done", Turn{State: TurnDone}, silent, statusDecision{Status: Idle}},
		{"live, failed", Turn{State: TurnFailed, Error: "x"}, silent, statusDecision{Status: Idle, Error: "x"}},
		{"the process beats storage", Turn{State: TurnDone}, shows(TurnOpen), statusDecision{Status: Running}},
		{"it waits", Turn{State: TurnOpen}, shows(TurnWaiting), statusDecision{Status: Waiting, WaitingFor: "permission"}},
		{"it is idle, storage says why", Turn{State: TurnFailed, Error: "x"}, shows(TurnDone), statusDecision{Status: Idle, Error: "x"}},
		{"it works again after a failure", Turn{State: TurnFailed, Error: "x"}, shows(TurnOpen), statusDecision{Status: Running}},
		{"two processes: the one that waits", Turn{}, append(shows(TurnOpen), shows(TurnWaiting)...), statusDecision{Status: Waiting, WaitingFor: "permission"}},
		{"two processes: the one that works", Turn{}, append(shows(TurnDone), shows(TurnOpen)...), statusDecision{Status: Running}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := statusOf(&statusInput{stored: c.stored, claims: c.live})
			if c.want.turn, c.want.Reason = c.stored, got.Reason; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// All else that bears on a status: whose the turn is, what cannot be seen, what a watcher knows of the past.
func TestStatusOfAllFacts(t *testing.T) {
	open, done := Turn{State: TurnOpen}, Turn{State: TurnDone}
	silent := []Claim{{}}
	gone, unknown := statusDecision{Status: Stopped, Outcome: OutcomeUnknown, turn: done}, statusDecision{Status: Unknown, turn: done}
	for name, c := range map[string]struct {
		facts statusInput
		want  statusDecision
	}{
		"nothing names it any more":              {statusInput{stored: done, vanished: true}, gone},
		"nothing names it, processes are hidden": {statusInput{stored: done, vanished: true, hidden: "x"}, unknown},
		"processes are hidden":                   {statusInput{stored: done, hidden: "x"}, unknown},
		"processes are hidden, its own is not":   {statusInput{stored: done, claims: silent, hidden: "x"}, statusDecision{Status: Idle, turn: done}},
		"its process cannot be read":             {statusInput{stored: done, claims: []Claim{{Unreadable: "x"}}}, unknown},
		"the turn was cut": {
			statusInput{stored: open, claims: silent, owner: turnOwner{ownerEnded: true}},
			statusDecision{Status: Idle, turn: Turn{State: TurnInterrupted}},
		},
		"it waits for a command": {
			statusInput{stored: Turn{State: TurnWaiting}, claims: silent, owner: turnOwner{childStarted: true}},
			statusDecision{Status: Running, turn: open},
		},
		"it has just begun": {
			statusInput{stored: Turn{State: TurnNone}, claims: silent, owner: turnOwner{processTurns: []processTurn{{Turn: open}}}},
			statusDecision{Status: Running, turn: Turn{State: TurnNone}},
		},
		"it seems to have stopped":         {statusInput{stored: done, debounce: StopDebounce{ProcessLives: true}}, statusDecision{stopPending: true}},
		"it has seemed so for long":        {statusInput{stored: done, vanished: true, debounce: StopDebounce{ProcessLives: true, Expired: true}}, gone},
		"it has, and its process runs it":  {statusInput{stored: done, debounce: StopDebounce{ProcessLives: true, Headless: true, Expired: true}}, statusDecision{stopPending: true}},
		"it has, and so has its process":   {statusInput{stored: done, vanished: true, debounce: StopDebounce{Headless: true}}, gone},
		"it seemed so, and is there again": {statusInput{stored: done, claims: silent, debounce: StopDebounce{ProcessLives: true}}, statusDecision{Status: Idle, turn: done}},
	} {
		t.Run(name, func(t *testing.T) {
			got := statusOf(&c.facts)
			if c.want.Reason = got.Reason; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
			if (got.Reason == "") != got.stopPending {
				t.Errorf("the reason is %q", got.Reason)
			}
		})
	}
}

// The reason is that of the status: the process that decides it, and what storage says only where that decides.
func TestReasons(t *testing.T) {
	claim := func(pid int, shown ...TurnState) Claim {
		c := Claim{Process: proc.ID{PID: pid}, Session: "a"}
		for _, s := range shown {
			c.Turn = &Turn{State: s}
		}
		return c
	}
	agent := Claim{Process: proc.ID{PID: 7}} // of which no session is known
	idle, unreadable, named := agent, agent, agent
	named.NameOnly = true
	idle.Turn, unreadable.Unreadable = &Turn{State: TurnNone}, "its open files: permission denied"
	open, done, failed := Turn{State: TurnOpen}, Turn{State: TurnDone}, Turn{State: TurnFailed, Error: "x"}
	inferred := Turn{State: TurnWaiting, WaitingFor: "permission", SilentSince: time.Unix(1, 0)}
	for _, c := range []struct {
		in     statusInput
		status Status
		want   string
	}{
		{statusInput{stored: done}, Stopped, "no live process runs it; its last stored turn has ended"},
		{statusInput{stored: open}, Stopped, "no live process runs it; its transcript ends in mid-turn, so the turn was cut short"},
		{statusInput{stored: inferred}, Stopped, "no live process runs it; its transcript ends while it waits for the user, so the turn was cut short"},
		{statusInput{stored: Turn{State: TurnNone}}, Stopped, "no live process runs it; its transcript has no prompt"},
		{statusInput{}, Stopped, "no live process runs it; its storage does not say how the last turn ended"},
		{statusInput{stored: done, vanished: true}, Stopped, "no live process runs it; its storage does not have it any more"},
		{
			statusInput{stored: done, absence: absence{searched: 412}},
			Stopped,
			"no live process runs it: none of 412 processes that were searched shows it; its last stored turn has ended",
		},
		{
			statusInput{stored: failed, absence: absence{searched: 412, unreadable: 3}},
			Stopped,
			"no live process runs it: none of 412 processes that were searched shows it, and 3 could not be searched; its last stored turn has failed",
		},
		{
			statusInput{stored: done, hidden: errInSandbox.Error()},
			Unknown,
			"whether a process runs it is not known: inside an agent's sandbox other sessions cannot be seen",
		},
		{statusInput{stored: done, debounce: StopDebounce{ProcessLives: true}}, "", ""}, // all stays as it was
		{statusInput{stored: done, claims: []Claim{claim(1)}}, Idle, "process 1 is live; its newest stored turn has ended"},
		{statusInput{claims: []Claim{claim(1)}}, Running, "process 1 is live; nothing says whether its newest turn has ended"},
		{statusInput{stored: Turn{State: TurnNone}, claims: []Claim{claim(1)}}, Idle, "process 1 is live; nothing was asked yet"},
		{statusInput{stored: done, claims: []Claim{claim(1, TurnOpen)}}, Running, "process 1 is live and shows that the turn is in progress"},
		{statusInput{stored: done, claims: []Claim{claim(1), claim(1, TurnOpen)}}, Running, "process 1 is live and shows that the turn is in progress"},
		{
			statusInput{stored: failed, claims: []Claim{claim(1, TurnDone)}},
			Idle,
			"process 1 is live and shows that the turn has ended; by its storage it has failed",
		},
		{
			statusInput{stored: done, claims: []Claim{claim(1, TurnDone), claim(2, TurnWaiting)}},
			Waiting,
			"processes 1, 2 are live; process 2 shows that the turn is blocked on the user",
		},
		{
			statusInput{stored: done, claims: []Claim{claim(1), claim(2)}},
			Idle,
			"processes 1, 2 are live; its newest stored turn has ended",
		},
		{
			statusInput{stored: open, claims: []Claim{claim(1)}, owner: turnOwner{ownerEnded: true}},
			Idle,
			"process 1 is live; the turn that its storage has is older than the process: it was cut short when an earlier process ended",
		},
		{statusInput{stored: done, claims: []Claim{claim(1)}, owner: turnOwner{ownerEnded: true}}, Idle, "process 1 is live; its newest stored turn has ended"},
		{
			statusInput{stored: inferred, claims: []Claim{claim(1)}},
			Waiting,
			"process 1 is live; its storage has no result of the last tool call, and no command of that call runs: it waits for permission",
		},
		{
			statusInput{stored: inferred, claims: []Claim{claim(1)}, owner: turnOwner{childStarted: true}},
			Running,
			"process 1 is live; its storage has no result of the last tool call, and the process has started a child since: the turn is in progress",
		},
		{
			statusInput{stored: done, claims: []Claim{claim(1)}, owner: turnOwner{processTurns: []processTurn{{open, true}}}},
			Running,
			"process 1 is live; its storage does not have the turn of this process yet, which is in progress",
		},
		{
			statusInput{stored: Turn{State: TurnNone}, claims: []Claim{claim(1)}, owner: turnOwner{processTurns: []processTurn{{Turn{State: TurnNone}, false}}}},
			Idle,
			"process 1 is live; nothing was asked yet",
		},
		{statusInput{claims: []Claim{agent}}, Running, "process 7 is live, and nothing names its session; nothing says whether its newest turn has ended"},
		{
			statusInput{claims: []Claim{named}},
			Running,
			"process 7 is live, only its name says that it is the agent, and nothing names its session; nothing says whether its newest turn has ended",
		},
		{statusInput{claims: []Claim{idle}}, Idle, "process 7 is live, and nothing names its session; it shows that the turn has not begun"},
		{
			statusInput{claims: []Claim{unreadable}},
			Unknown,
			"process 7 is live, and nothing names its session; what process 7 does is not known: its open files: permission denied",
		},
	} {
		if got := statusOf(&c.in); got.Reason != c.want || got.Status != c.status {
			t.Errorf("%s because %s\nwant %s because %s", got.Status, got.Reason, c.status, c.want)
		}
	}
}

// Sessions that need the user come first.
func TestSortByAttention(t *testing.T) {
	now := at(1000)
	s := func(id string, status Status, minutes int) Session {
		return Session{Record: &Record{ID: id, Agent: Codex, Updated: now.Add(-time.Duration(minutes) * time.Minute)}, Status: status}
	}
	with := func(s Session, outcome Outcome, failure string) Session {
		s.Outcome, s.Error = outcome, failure
		return s
	}
	begun := func(s Session, minutes int) Session {
		s.Created = now.Add(-time.Duration(minutes) * time.Minute)
		return s
	}
	want := []Session{
		s("waits-long", Waiting, 90), s("waits", Waiting, 1),
		with(s("idle-failed", Idle, 1), "", "overloaded"), with(s("died", Stopped, 2), Interrupted, ""), with(s("failed", Stopped, 3), Failed, "x"),
		s("just-done", Idle, 4), with(s("just-stopped", Stopped, 5), Completed, ""),
		begun(s("young", Running, 3), 5), begun(s("old", Running, 1), 50), s("cannot-be-told", Unknown, 0),
		s("idle", Idle, 11), with(s("idle-failed-long-ago", Idle, 600), "", "x"), with(s("gone", Stopped, 12), Failed, "x"),
	}
	got := append([]Session(nil), want...)
	for range 100 {
		rand.Shuffle(len(got), func(i, j int) { got[i], got[j] = got[j], got[i] })
		SortByAttention(got, now)
		if idsAndStatuses(got) != idsAndStatuses(want) {
			t.Fatalf("got  %s\nwant %s", strings.ReplaceAll(idsAndStatuses(got), " ", "\n     "), idsAndStatuses(want))
		}
	}
	if !want[3].StoppedRecently(now) || want[0].StoppedRecently(now) || want[len(want)-1].StoppedRecently(now) {
		t.Error("news is what has stopped within ten minutes")
	}
}
