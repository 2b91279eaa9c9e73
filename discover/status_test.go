package discover

import "testing"

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
	gone, unknown := statusDecision{Status: Stopped, Outcome: OutcomeUnknown, turn: done}, statusDecision{Status: Unknown, turn: done}
	for name, c := range map[string]struct {
		facts statusInput
		want  statusDecision
	}{
		"nothing names it any more":              {statusInput{stored: done, vanished: true}, gone},
		"nothing names it, processes are hidden": {statusInput{stored: done, vanished: true, mayBeHidden: true}, unknown},
		"processes are hidden":                   {statusInput{stored: done, mayBeHidden: true}, unknown},
		"processes are hidden, its own is not":   {statusInput{stored: done, claims: silent, mayBeHidden: true}, statusDecision{Status: Idle, turn: done}},
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
			if got := statusOf(&c.facts); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
