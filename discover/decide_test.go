package discover

import "testing"

func TestDecide(t *testing.T) {
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
			if got := decide(c.stored, c.live); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}
