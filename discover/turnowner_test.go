package discover

import (
	"testing"
	"time"

	"agentctl/proc"
	"agentctl/tests/proctest"
)

// A turn is in progress only in a process that was there when it was asked for.
func TestATurnEndsWithItsProcess(t *testing.T) {
	const early, late = 1000, 2000
	began := time.Unix(1500, 0).UTC()
	claim := func(pid int) Claim {
		return Claim{Agent: Codex, Process: proc.ID{PID: pid, Birth: "now"}, Session: "a", Path: "/h/1", Strength: Exact}
	}
	presence := func(pid int, turn *Turn, shared bool) Claim {
		c := Claim{Agent: Codex, Process: proc.ID{PID: pid, Birth: "now"}, Turn: turn, Shared: shared}
		if turn.State == TurnOpen {
			c.Source = "exec"
		}
		return c
	}
	run, nothing := &Turn{State: TurnOpen}, &Turn{State: TurnNone}
	shows := func(c Claim, state TurnState) Claim { c.Turn = &Turn{State: state}; return c }
	since := func(c Claim, seconds int64) Claim { c.Since = time.Unix(seconds, 0); return c }
	open, asked, done := Turn{State: TurnOpen, Began: began}, Turn{State: TurnWaiting, WaitingFor: "question", Began: began}, Turn{State: TurnDone, Began: began}
	undated, headless := Turn{State: TurnOpen}, Turn{State: TurnOpen, Began: began, Headless: true}
	for name, test := range map[string]struct {
		turn   Turn
		sub    bool
		claims []Claim
		want   Status
		state  TurnState
	}{
		"its own":                    {open, false, []Claim{presence(early, nothing, false), claim(early)}, Running, TurnOpen},
		"left":                       {open, false, []Claim{presence(late, nothing, false), claim(late)}, Idle, TurnInterrupted},
		"written since":              {open, false, []Claim{presence(late, nothing, false), claim(late)}, Running, TurnOpen},
		"left with a question":       {asked, false, []Claim{claim(late)}, Idle, TurnInterrupted},
		"its own, beside another":    {open, false, []Claim{claim(early), claim(late)}, Running, TurnOpen},
		"begun nobody knows when":    {undated, false, []Claim{claim(late)}, Running, TurnOpen},
		"the process knows better":   {open, false, []Claim{shows(claim(late), TurnOpen)}, Running, TurnInterrupted},
		"left to a run":              {open, false, []Claim{presence(late, run, false), claim(late)}, Running, TurnInterrupted},
		"over, before a run":         {done, false, []Claim{presence(late, run, false), claim(late)}, Running, TurnDone},
		"over, undated, before one":  {Turn{State: TurnDone}, false, []Claim{presence(late, run, false), claim(late)}, Running, TurnDone},
		"over, undated, in a run":    {Turn{State: TurnDone}, false, []Claim{presence(early, run, false), claim(early)}, Idle, TurnDone},
		"over, in a run":             {done, false, []Claim{presence(early, run, false), claim(early)}, Idle, TurnDone},
		"over, a run's sub-agent":    {done, true, []Claim{presence(late, run, false), claim(late)}, Idle, TurnDone},
		"a run's, in that run":       {headless, false, []Claim{presence(early, run, false), claim(early)}, Running, TurnOpen},
		"a run's, in a server":       {headless, false, []Claim{presence(early, nothing, true), claim(early)}, Idle, TurnInterrupted},
		"a run's, asked of a server": {headless, false, []Claim{presence(early, nothing, true), since(claim(early), 1400)}, Running, TurnOpen},
		"before a server has it":     {open, false, []Claim{presence(early, nothing, true), since(claim(early), 1600)}, Idle, TurnInterrupted},
		"a run's, in a server, asks": {headless, false, []Claim{presence(early, nothing, true), shows(claim(early), TurnWaiting)}, Waiting, TurnInterrupted},
	} {
		in := input{
			processes: []proctest.Process{fakeProcess(early, "now", 'S'), fakeProcess(late, "now", 'S')},
			claims:    test.claims,
			records:   []Record{{Agent: Codex, ID: "a", Path: "/h/1", Turn: test.turn, Sub: test.sub, Updated: began.Add(time.Minute)}},
		}
		if name == "written since" {
			in.records[0].Updated = time.Unix(late+1, 0).UTC()
		}
		s := in.correlate()[0]
		if s.Status != test.want || s.Turn.State != test.state {
			t.Errorf("%s: %s, its turn %d; want %s, %d", name, s.Status, s.Turn.State, test.want, test.state)
		}
	}
}

// A call without a result waits for permission, unless the process has a child that started later.
func TestATurnWithALiveChildDoesNotWait(t *testing.T) {
	silent := time.Unix(1500, 0).UTC()
	for name, test := range map[string]struct {
		child int // its pid, and the second that it began in; 0: none
		state proc.State
		want  Status
	}{
		"nothing":           {0, 'S', Waiting},
		"an older child":    {1400, 'S', Waiting},
		"a child":           {1500, 'S', Running},
		"a child, dead":     {1600, 'Z', Waiting},
		"a child of others": {-1600, 'S', Waiting},
	} {
		in := input{
			processes: []proctest.Process{fakeProcess(1000, "now", 'S')},
			claims:    []Claim{{Agent: Codex, Process: proc.ID{PID: 1000, Birth: "now"}, Session: "a", Path: "/h/1", Strength: Exact}},
			records:   []Record{{Agent: Codex, ID: "a", Path: "/h/1", Turn: Turn{State: TurnWaiting, WaitingFor: "permission", Began: silent, SilentSince: silent}}},
		}
		if test.child != 0 {
			child := fakeProcess(max(test.child, -test.child), "now", test.state)
			if test.child > 0 {
				child.Parent = 1000
			}
			in.processes = append(in.processes, child)
		}
		if s := in.correlate()[0]; s.Status != test.want || (s.Turn.State == TurnOpen) != (test.want == Running) {
			t.Errorf("%s: %s, want %s", name, s.Status, test.want)
		}
	}
}

// The detail of an open turn is what its process shows.
func TestAProcessShowsTheDetailOfTheTurn(t *testing.T) {
	for state, want := range map[TurnState]string{TurnOpen: "retrying", TurnDone: "model"} {
		claim := Claim{Agent: Codex, Process: proc.ID{PID: 1000, Birth: "now"}, Session: "a", Path: "/h/1", Strength: Exact}
		claim.Turn = &Turn{State: state, Detail: "retrying"}
		in := input{
			processes: []proctest.Process{fakeProcess(1000, "now", 'S')}, claims: []Claim{claim},
			records: []Record{{Agent: Codex, ID: "a", Path: "/h/1", Turn: Turn{State: TurnOpen, Detail: "model"}}},
		}
		if s := in.correlate()[0]; s.Turn.Detail != want {
			t.Errorf("%d: it is doing %q, want %q", state, s.Turn.Detail, want)
		}
	}
}
