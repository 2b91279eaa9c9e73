package discover

import (
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"agentctl/proc"
	"agentctl/tests/proctest"
)

// statusOf returns a session whose stored turn this is, with its status.
func statusOf(stored Turn, in statusInput) Session {
	s := Session{Record: &Record{Turn: stored}}
	s.setStatus(&in)
	return s
}

// want is what is expected of a session's status.
type want struct {
	Status     Status
	Outcome    Outcome
	WaitingFor string
	Error      string
	turn       Turn
}

func wanted(s Session) want { return want{s.Status, s.Outcome, s.WaitingFor, s.Error, s.Turn} }

func TestStatusOfTheTurnAndTheClaims(t *testing.T) {
	shows := func(s TurnState) []Claim { return []Claim{{Turn: &Turn{State: s, WaitingFor: "permission"}}} }
	silent := []Claim{{}}
	for _, c := range []struct {
		name   string
		stored Turn
		live   []Claim
		want   want
	}{
		{"dead, done", Turn{State: TurnDone}, nil, want{Status: Stopped, Outcome: Completed}},
		{"dead, mid-turn", Turn{State: TurnOpen}, nil, want{Status: Stopped, Outcome: Interrupted}},
		{"dead while it waited", Turn{State: TurnWaiting}, nil, want{Status: Stopped, Outcome: Interrupted}},
		{"dead, aborted", Turn{State: TurnInterrupted}, nil, want{Status: Stopped, Outcome: Interrupted}},
		{"dead, failed", Turn{State: TurnFailed, Error: "x"}, nil, want{Status: Stopped, Outcome: Failed, Error: "x"}},
		{"dead, never asked", Turn{State: TurnNone}, nil, want{Status: Stopped, Outcome: OutcomeUnknown}},
		{"dead, too old to tell", Turn{}, nil, want{Status: Stopped, Outcome: OutcomeUnknown}},
		{"live, cannot be told", Turn{}, silent, want{Status: Running}},
		{"live, never asked", Turn{State: TurnNone}, silent, want{Status: Idle}},
		{"live, mid-turn", Turn{State: TurnOpen}, silent, want{Status: Running}},
		{"live, done", Turn{State: TurnDone}, silent, want{Status: Idle}},
		{"live, failed", Turn{State: TurnFailed, Error: "x"}, silent, want{Status: Idle, Error: "x"}},
		{"the process beats storage", Turn{State: TurnDone}, shows(TurnOpen), want{Status: Running}},
		{"it waits", Turn{State: TurnOpen}, shows(TurnWaiting), want{Status: Waiting, WaitingFor: "permission"}},
		{"it is idle, storage says why", Turn{State: TurnFailed, Error: "x"}, shows(TurnDone), want{Status: Idle, Error: "x"}},
		{"it works again after a failure", Turn{State: TurnFailed, Error: "x"}, shows(TurnOpen), want{Status: Running}},
		{"two processes: the one that waits", Turn{}, append(shows(TurnOpen), shows(TurnWaiting)...), want{Status: Waiting, WaitingFor: "permission"}},
		{"two processes: the one that works", Turn{}, append(shows(TurnDone), shows(TurnOpen)...), want{Status: Running}},
	} {
		t.Run(c.name, func(t *testing.T) {
			c.want.turn = c.stored
			if got := wanted(statusOf(c.stored, statusInput{claims: c.live})); got != c.want {
				t.Errorf("got %+v, want %+v", got, c.want)
			}
		})
	}
}

// All else that bears on a status: whose the turn is, and what cannot be seen.
func TestStatusOfAllFacts(t *testing.T) {
	open, done := Turn{State: TurnOpen}, Turn{State: TurnDone}
	silent := []Claim{{}}
	gone, unknown := want{Status: Stopped, Outcome: OutcomeUnknown, turn: done}, want{Status: Unknown, turn: done}
	for name, c := range map[string]struct {
		stored Turn
		facts  statusInput
		want   want
	}{
		"nothing names it any more":              {done, statusInput{vanished: true}, gone},
		"nothing names it, processes are hidden": {done, statusInput{vanished: true, hidden: "x"}, unknown},
		"processes are hidden":                   {done, statusInput{hidden: "x"}, unknown},
		"processes are hidden, its own is not":   {done, statusInput{claims: silent, hidden: "x"}, want{Status: Idle, turn: done}},
		"its process cannot be read":             {done, statusInput{claims: []Claim{{Unreadable: "x"}}}, unknown},
		"the turn was cut": {
			open,
			statusInput{claims: silent, owner: turnOwner{ownerEnded: true}},
			want{Status: Idle, turn: Turn{State: TurnInterrupted}},
		},
		"it waits for a command": {
			Turn{State: TurnWaiting},
			statusInput{claims: silent, owner: turnOwner{childStarted: true}},
			want{Status: Running, turn: open},
		},
		"it has just begun": {
			Turn{State: TurnNone},
			statusInput{claims: silent, owner: turnOwner{processTurns: []processTurn{{Turn: open}}}},
			want{Status: Running, turn: Turn{State: TurnNone}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := statusOf(c.stored, c.facts)
			if wanted(got) != c.want {
				t.Errorf("got %+v, want %+v", wanted(got), c.want)
			}
			if got.Reason == "" {
				t.Error("it has no reason")
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
		stored Turn
		in     statusInput
		status Status
		want   string
	}{
		{done, statusInput{}, Stopped, "no live process runs it; its last stored turn has ended"},
		{open, statusInput{}, Stopped, "no live process runs it; its transcript ends in mid-turn, so the turn was cut short"},
		{inferred, statusInput{}, Stopped, "no live process runs it; its transcript ends while it waits for the user, so the turn was cut short"},
		{Turn{State: TurnNone}, statusInput{}, Stopped, "no live process runs it; its transcript has no prompt"},
		{Turn{}, statusInput{}, Stopped, "no live process runs it; its storage does not say how the last turn ended"},
		{done, statusInput{vanished: true}, Stopped, "no live process runs it; its storage does not have it any more"},
		{
			done,
			statusInput{absence: absence{searched: 412}},
			Stopped,
			"no live process runs it: none of 412 processes that were searched shows it; its last stored turn has ended",
		},
		{
			failed,
			statusInput{absence: absence{searched: 412, unreadable: 3}},
			Stopped,
			"no live process runs it: none of 412 processes that were searched shows it, and 3 could not be searched; its last stored turn has failed",
		},
		{
			done,
			statusInput{hidden: errInSandbox.Error()},
			Unknown,
			"whether a process runs it is not known: inside an agent's sandbox other sessions cannot be seen",
		},
		{done, statusInput{claims: []Claim{claim(1)}}, Idle, "process 1 is live; its newest stored turn has ended"},
		{Turn{}, statusInput{claims: []Claim{claim(1)}}, Running, "process 1 is live; nothing says whether its newest turn has ended"},
		{Turn{State: TurnNone}, statusInput{claims: []Claim{claim(1)}}, Idle, "process 1 is live; nothing was asked yet"},
		{done, statusInput{claims: []Claim{claim(1, TurnOpen)}}, Running, "process 1 is live and shows that the turn is in progress"},
		{done, statusInput{claims: []Claim{claim(1), claim(1, TurnOpen)}}, Running, "process 1 is live and shows that the turn is in progress"},
		{
			failed,
			statusInput{claims: []Claim{claim(1, TurnDone)}},
			Idle,
			"process 1 is live and shows that the turn has ended; by its storage it has failed",
		},
		{
			done,
			statusInput{claims: []Claim{claim(1, TurnDone), claim(2, TurnWaiting)}},
			Waiting,
			"processes 1, 2 are live; process 2 shows that the turn is blocked on the user",
		},
		{
			done,
			statusInput{claims: []Claim{claim(1), claim(2)}},
			Idle,
			"processes 1, 2 are live; its newest stored turn has ended",
		},
		{
			open,
			statusInput{claims: []Claim{claim(1)}, owner: turnOwner{ownerEnded: true}},
			Idle,
			"process 1 is live; the turn that its storage has is older than the process: it was cut short when an earlier process ended",
		},
		{done, statusInput{claims: []Claim{claim(1)}, owner: turnOwner{ownerEnded: true}}, Idle, "process 1 is live; its newest stored turn has ended"},
		{
			inferred,
			statusInput{claims: []Claim{claim(1)}},
			Waiting,
			"process 1 is live; its storage has no result of the last tool call, and no command of that call runs: it waits for permission",
		},
		{
			inferred,
			statusInput{claims: []Claim{claim(1)}, owner: turnOwner{childStarted: true}},
			Running,
			"process 1 is live; its storage has no result of the last tool call, and the process has started a child since: the turn is in progress",
		},
		{
			done,
			statusInput{claims: []Claim{claim(1)}, owner: turnOwner{processTurns: []processTurn{{open, true}}}},
			Running,
			"process 1 is live; its storage does not have the turn of this process yet, which is in progress",
		},
		{
			Turn{State: TurnNone},
			statusInput{claims: []Claim{claim(1)}, owner: turnOwner{processTurns: []processTurn{{Turn{State: TurnNone}, false}}}},
			Idle,
			"process 1 is live; nothing was asked yet",
		},
		{Turn{}, statusInput{claims: []Claim{agent}}, Running, "process 7 is live, and nothing names its session; nothing says whether its newest turn has ended"},
		{
			Turn{},
			statusInput{claims: []Claim{named}},
			Running,
			"process 7 is live, only its name says that it is the agent, and nothing names its session; nothing says whether its newest turn has ended",
		},
		{Turn{}, statusInput{claims: []Claim{idle}}, Idle, "process 7 is live, and nothing names its session; it shows that the turn has not begun"},
		{
			Turn{},
			statusInput{claims: []Claim{unreadable}},
			Unknown,
			"process 7 is live, and nothing names its session; what process 7 does is not known: its open files: permission denied",
		},
	} {
		if got := statusOf(c.stored, c.in); got.Reason != c.want || got.Status != c.status {
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
