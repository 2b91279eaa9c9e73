package cli

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/launch"
)

// seen is a session as a look shows it: "status/outcome/turn", the latter two as they apply; "server-" if a server runs it.
func seen(words string) discover.Session {
	part := append(strings.Split(words, "/"), "", "")
	status, server := strings.CutPrefix(part[0], "server-")
	s := discover.Session{
		Record: &discover.Record{ID: "a"}, Status: discover.Status(status), Outcome: discover.Outcome(part[1]), Shared: server,
	}
	s.Turn.State = map[string]discover.TurnState{
		"": discover.TurnDone, "none": discover.TurnNone, "open": discover.TurnOpen, "cut": discover.TurnInterrupted,
		"failed": discover.TurnFailed, "unknown": discover.TurnUnknown,
	}[part[2]]
	if s.Turn.State == discover.TurnFailed {
		s.Error = "words"
	}
	return s
}

func TestStates(t *testing.T) {
	for _, tc := range []struct {
		until State
		looks string
		there bool
	}{
		{Stopped, "running waiting idle unknown", false},
		{Stopped, "running stopped", true},
		{Stopped, "server-running", false},
		{Stopped, "server-running server-idle", true},
		{Idle, "running waiting unknown", false},
		{Idle, "running idle", true},
		{Idle, "stopped", true},
		{Waiting, "running unknown", false},
		{Waiting, "running waiting", true},
		{Waiting, "idle", true},
		{Waiting, "stopped", true},
		{AnyChange, "running running", false},
		{AnyChange, "running idle", true},
		{AnyChange, "stopped/completed stopped/completed", false},
		{AnyChange, "stopped/completed stopped/error", true},
	} {
		told := 0
		w := NewWaiter(tc.until, 1, func(discover.Session) error { told++; return nil })
		more := true
		for look := range strings.FieldsSeq(tc.looks) {
			var err error
			if more, err = w.Update([]discover.Session{seen(look)}); err != nil {
				t.Fatal(err)
			}
		}
		if more == tc.there || (told == 1) != tc.there {
			t.Errorf("%s %s: still waited for is %v, told %d times", tc.until, tc.looks, more, told)
		}
	}
}

// Where the agent says that the turn is over and its storage does not yet say how, that gets a moment.
func TestAnIdleSessionGetsAMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, tc := range []struct {
			later, wrong string
		}{{"idle", ""}, {"idle//open", "the last turn of a was cut; the session is live, and idle"}, {"idle//failed", "the last turn of a failed: words"}} {
			w := NewWaiter(Idle, 1, func(discover.Session) error { return nil })
			if more, _ := w.Update([]discover.Session{seen("idle//open")}); !more {
				t.Error("it is there at once")
			}
			<-time.After(watch.TurnEndDelay)
			if more, _ := w.Update([]discover.Session{seen(tc.later)}); more {
				t.Errorf("%s: it is not there", tc.later)
			}
			if err := w.Conclude(Env{}); (err == nil) != (tc.wrong == "") || err != nil && err.Error() != tc.wrong {
				t.Errorf("%s: %v, want %q", tc.later, err, tc.wrong)
			}
		}
	})
}

func TestTurnErrors(t *testing.T) {
	for words, want := range map[string]string{
		"stopped/completed":        "",
		"stopped/interrupted/open": "the last turn of a was cut",
		"stopped/error/failed":     "the last turn of a failed: words",
		"stopped/unknown/unknown":  "?",
		"stopped/unknown/none":     "",
		"idle":                     "",
		"idle//none":               "",
		"idle//cut":                "the last turn of a was cut; the session is live, and idle",
		"idle//failed":             "the last turn of a failed: words",
		"idle//unknown":            "?",
		"running//open":            "",
		"waiting//open":            "",
		"running//failed":          "", // the next one is in progress
	} {
		wrong, known := turnError(seen(words))
		if !known {
			wrong = "?"
		}
		if wrong != want {
			t.Errorf("%s: %q, want %q", words, wrong, want)
		}
	}
}

// A turn that begins is a change, and was not cut: its prompt is stored before the agent's process shows that it is at work.
func TestUntilATurnBegins(t *testing.T) {
	before, begun := seen("idle"), seen("idle//open")
	before.Updated = Now()
	begun.Turn.Began = Now().Add(time.Second)
	w := NewWaiter(AnyChange, 1, func(discover.Session) error { return nil })
	for _, s := range []discover.Session{before, begun} {
		if _, err := w.Update([]discover.Session{s}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Conclude(Env{}); !w.sessions[0].done || err != nil {
		t.Errorf("reached %t: %v", w.sessions[0].done, err)
	}
	begun.Status, begun.Outcome, begun.Turn.State = discover.Stopped, discover.Interrupted, discover.TurnOpen
	w = NewWaiter(AnyChange, 1, func(discover.Session) error { return nil })
	for _, s := range []discover.Session{before, begun} {
		_, _ = w.Update([]discover.Session{s})
	}
	if err := w.Conclude(Env{}); err == nil {
		t.Error("a turn that was cut by its process's end is fine")
	}
}

func TestReachedUntil(t *testing.T) {
	now := Now()
	full, part := 100.0, 42.0
	in := func(d time.Duration) time.Time { return now.Add(d) }
	for what, tc := range map[string]struct {
		quotas  []discover.Quota
		turn    discover.Turn
		at      time.Time
		unknown bool
	}{
		"none":          {},
		"partly used":   {quotas: []discover.Quota{{Used: &part, Resets: in(time.Hour)}}},
		"used up":       {quotas: []discover.Quota{{Used: &full, Resets: in(time.Hour)}}, at: in(time.Hour)},
		"refused":       {quotas: []discover.Quota{{Reached: true, Resets: in(time.Hour)}, {Used: &full, Resets: in(2 * time.Hour)}}, at: in(2 * time.Hour)},
		"reset since":   {quotas: []discover.Quota{{Reached: true, Resets: in(-time.Second)}}},
		"not said when": {quotas: []discover.Quota{{Reached: true}}, unknown: true},
		"one is known":  {quotas: []discover.Quota{{Reached: true}, {Used: &full, Resets: in(time.Hour)}}, at: in(time.Hour)},
		"answered since": {
			quotas: []discover.Quota{{Reached: true, Resets: in(time.Hour), Time: in(-time.Hour)}},
			turn:   discover.Turn{State: discover.TurnDone, Began: in(-time.Minute)},
		},
		"failed again": {
			quotas: []discover.Quota{{Reached: true, Resets: in(time.Hour), Time: in(-time.Hour)}},
			turn:   discover.Turn{State: discover.TurnFailed, Began: in(-time.Minute)}, at: in(time.Hour),
		},
	} {
		s := discover.Session{Record: &discover.Record{Agent: "codex", ID: "a", Quotas: tc.quotas, Turn: tc.turn}}
		at, err := reachedUntil(s, now)
		if _, unsupported := errors.AsType[*launch.UnsupportedError](err); unsupported != tc.unknown || !at.Equal(tc.at) {
			t.Errorf("%s: %v, %v", what, at, err)
		}
	}
}

// A sub-agent's lock is the session's.
func TestLockOfASubAgent(t *testing.T) {
	f, out := SharedProcess(t, map[string]discover.TurnState{"boss": discover.TurnOpen, "hand": discover.TurnOpen}, "inside")
	for _, step := range []struct {
		mark, args string
		exit       int
	}{
		{"hand", "lock .", ExitOK},
		{"boss", "guard", ExitOK},
		{"boss", "lock .", ExitConflict},
		{"boss", "unlock .", ExitOK},
		{"boss", "lock . --by hand", ExitOK},
		{"hand", "unlock .", ExitConflict},
		{"hand", "unlock . --by hand", ExitOK},
	} {
		if exit := Run(t.Context(), Setenv(f, "THREAD", step.mark), strings.Fields(step.args)...); exit != step.exit {
			t.Errorf("%s: agentctl %s: exit %d\n%s", step.mark, step.args, exit, out.Stderr.String())
		}
	}
	if !strings.Contains(out.Stderr.String(), "locked by codex/boss since") {
		t.Errorf("%s", out.Stderr.String())
	}
}

// A span that is none is wrong usage before anything is looked at, and the error says what is wanted.
func TestDurationFlags(t *testing.T) {
	for _, args := range []string{
		"launch codex -p x --timeout 0", "launch codex -p x --timeout=-1s", "launch codex -p x --wait --max-time 5",
		"resume aaaaaaaa-2 x --timeout 0", "wait aaaaaaaa-1 --timeout 5", "stop aaaaaaaa-1 --timeout 0s", "stop --older-than 0d", "lock . --for 0",
	} {
		f, out := testEnv(t)
		if got := Run(t.Context(), f, strings.Fields(args)...); got != ExitUsage || !strings.Contains(out.Stderr.String(), "use a duration such as 90s, 30m, 1h30m, 2d or 1w") {
			t.Errorf("%s: exit %d, %s", args, got, out.Stderr.String())
		}
	}
}

// A command that is an empty variable of a script's leaves no lock behind.
func TestLockWithoutItsCommand(t *testing.T) {
	f, out := testEnv(t)
	if got := Run(t.Context(), f, "lock", t.TempDir(), "--"); got != ExitUsage || !strings.Contains(out.Stderr.String(), "no command follows --") {
		t.Errorf("exit %d, %s", got, out.Stderr.String())
	}
	out.Stdout.Reset()
	if Run(t.Context(), f, "locks", "--json"); strings.Contains(out.Stdout.String(), "declared") {
		t.Error(out.Stdout.String())
	}
}
