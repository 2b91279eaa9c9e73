package discover

import "testing"

func TestStatusOfTheTurnAndTheClaims(t *testing.T) {
	shows := func(s TurnState) []Claim { return []Claim{{Turn: &Turn{State: s, WaitingFor: "permission"}}} }
	silent := []Claim{{}}
	for _, c := range []struct {
		name   string
		stored Turn
		live   []Claim
		want   verdict
	}{
		{"dead, done", Turn{State: TurnDone}, nil, verdict{Status: Stopped, Outcome: Completed}},
		{"dead, mid-turn", Turn{State: TurnOpen}, nil, verdict{Status: Stopped, Outcome: Interrupted}},
		{"dead while it waited", Turn{State: TurnWaiting}, nil, verdict{Status: Stopped, Outcome: Interrupted}},
		{"dead, aborted", Turn{State: TurnInterrupted}, nil, verdict{Status: Stopped, Outcome: Interrupted}},
		{"dead, failed", Turn{State: TurnFailed, Error: "x"}, nil, verdict{Status: Stopped, Outcome: Failed, Error: "x"}},
		{"dead, never asked", Turn{State: TurnNone}, nil, verdict{Status: Stopped, Outcome: OutcomeUnknown}},
		{"dead, too old to tell", Turn{}, nil, verdict{Status: Stopped, Outcome: OutcomeUnknown}},
		{"live, cannot be told", Turn{}, silent, verdict{Status: Running}},
		{"live, never asked", Turn{State: TurnNone}, silent, verdict{Status: Idle}},
		{"live, mid-turn", Turn{State: TurnOpen}, silent, verdict{Status: Running}},
		{"live, done", Turn{State: TurnDone}, silent, verdict{Status: Idle}},
		{"live, failed", Turn{State: TurnFailed, Error: "x"}, silent, verdict{Status: Idle, Error: "x"}},
		{"the process beats storage", Turn{State: TurnDone}, shows(TurnOpen), verdict{Status: Running}},
		{"it waits", Turn{State: TurnOpen}, shows(TurnWaiting), verdict{Status: Waiting, WaitingFor: "permission"}},
		{"it is idle, storage says why", Turn{State: TurnFailed, Error: "x"}, shows(TurnDone), verdict{Status: Idle, Error: "x"}},
		{"it works again after a failure", Turn{State: TurnFailed, Error: "x"}, shows(TurnOpen), verdict{Status: Running}},
		{"two processes: the one that waits", Turn{}, append(shows(TurnOpen), shows(TurnWaiting)...), verdict{Status: Waiting, WaitingFor: "permission"}},
		{"two processes: the one that works", Turn{}, append(shows(TurnDone), shows(TurnOpen)...), verdict{Status: Running}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := statusOf(&statusFacts{stored: c.stored, claims: c.live})
			if c.want.turn = c.stored; got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// All else that bears on a status: whose the turn is, what cannot be seen, what a watcher knows of the past.
func TestStatusOfAllFacts(t *testing.T) {
	open, done := Turn{State: TurnOpen}, Turn{State: TurnDone}
	silent := []Claim{{}}
	gone, unknown := verdict{Status: Stopped, Outcome: OutcomeUnknown, turn: done}, verdict{Status: Unknown, turn: done}
	for name, c := range map[string]struct {
		facts statusFacts
		want  verdict
	}{
		"nothing names it any more":              {statusFacts{stored: done, vanished: true}, gone},
		"nothing names it, processes are hidden": {statusFacts{stored: done, vanished: true, mayBeHidden: true}, unknown},
		"processes are hidden":                   {statusFacts{stored: done, mayBeHidden: true}, unknown},
		"processes are hidden, its own is not":   {statusFacts{stored: done, claims: silent, mayBeHidden: true}, verdict{Status: Idle, turn: done}},
		"its process cannot be read":             {statusFacts{stored: done, claims: []Claim{{Unreadable: "x"}}}, unknown},
		"the turn was cut": {
			statusFacts{stored: open, claims: silent, owner: turnOwner{ownerEnded: true}},
			verdict{Status: Idle, turn: Turn{State: TurnInterrupted}},
		},
		"it waits for a command": {
			statusFacts{stored: Turn{State: TurnWaiting}, claims: silent, owner: turnOwner{childStarted: true}},
			verdict{Status: Running, turn: open},
		},
		"it has just begun": {
			statusFacts{stored: Turn{State: TurnNone}, claims: silent, owner: turnOwner{processTurns: []processTurn{{Turn: open}}}},
			verdict{Status: Running, turn: Turn{State: TurnNone}},
		},
		"it seems to have stopped":         {statusFacts{stored: done, debounce: StopDebounce{ProcessLives: true}}, verdict{stopPending: true}},
		"it has seemed so for long":        {statusFacts{stored: done, vanished: true, debounce: StopDebounce{ProcessLives: true, Expired: true}}, gone},
		"it has, and its process runs it":  {statusFacts{stored: done, debounce: StopDebounce{ProcessLives: true, Headless: true, Expired: true}}, verdict{stopPending: true}},
		"it has, and so has its process":   {statusFacts{stored: done, vanished: true, debounce: StopDebounce{Headless: true}}, gone},
		"it seemed so, and is there again": {statusFacts{stored: done, claims: silent, debounce: StopDebounce{ProcessLives: true}}, verdict{Status: Idle, turn: done}},
	} {
		t.Run(name, func(t *testing.T) {
			if got := statusOf(&c.facts); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
