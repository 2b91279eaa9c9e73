package cli

import (
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/launch/stop"
	"agentctl/proc"
)

func TestStopIsAsked(t *testing.T) {
	checkEndings(t, testEnv, []ending{
		{"stop", 2, "needs the ID of a session, or a selection"},
		{"stop --yes --adapter codex", 2, "needs the ID of a session, or a selection"},
		{"stop aaaaaaaa-1 --all", 2, "cannot be used together"},
		{"stop aaaaaaaa-1 --group g", 2, "cannot be used together"},
		{"stop --all --quiet --json", 2, "cannot be used together"},
		{"stop --all", 2, "needs --yes"},
		{"stop aaaaaaaa-1 --timeout 0s", 2, "flag --timeout: use a duration"},
		{"stop aaaaaaaa-1 --timeout=-1s", 2, "flag --timeout: use a duration"},
		{"stop --idle-for 0", 2, "--idle-for"},
		{"stop --idle-for soon", 2, "soon"},
		{"stop --older-than 1ms --adapter codex", 2, "needs --yes"},
		{"stop --yes --cwd /nowhere/at/all", 2, "--cwd: "},
		{"stop nothing", 3, "no such session: nothing"},
		{"stop aaaaaaaa-1 nothing", 3, "no such session: nothing"},
		{"stop pid:11", 3, "no such session: process 11"},
		{"stop aaaaaaaa", 4, "aaaaaaaa-1 codex running"},
		{"stop aaaaaaaa-2", 0, ""},
		{"stop aaaaaaaa-2 cccccccc@/w/a aaaaaaaa-2 --json", 0, ""},
		{"stop --all --group none", 2, "needs --yes"}, // though there is nothing to ask about today
		{"stop --all --group none --yes", 0, "no live session matches"},
		{"stop --all --group none --yes -q", 0, ""},
	})
}

// On a terminal the sessions are shown before they are asked for.
func TestStopAsks(t *testing.T) {
	for answer, want := range map[string]int{"n\n": 8, "\n": 8, "": 8, "yes, all\n": 8, "y\n": 1, " YES\n": 1} {
		f, out := testEnv(t)
		f.Terminal, f.Stdin = true, strings.NewReader(answer)
		if got := Run(t.Context(), f, "stop", "--older-than", "1m"); got != want {
			t.Errorf("%q: exit %d, want %d; %s", answer, got, want, out.Stderr.String())
		}
		if !strings.Contains(out.Stderr.String(), "stop these? [y/N] ") || !strings.Contains(out.Stderr.String(), "claude-code") {
			t.Errorf("%q: %s", answer, out.Stderr.String())
		}
		// The made-up process is in no real table: nothing was signalled, and it is there as before.
		if done := strings.Contains(out.Stdout.String(), "still running"); done != (want == 1) {
			t.Errorf("%q: %s", answer, out.Stdout.String())
		}
	}
}

func TestStopTakesByTime(t *testing.T) {
	s := discover.Session{Record: &discover.Record{Created: Now().Add(-3 * time.Hour), Updated: Now().Add(-time.Hour)}, Status: discover.Idle}
	resumed := s
	resumed.Processes = []proc.Process{{Started: Now().Add(-2 * time.Hour)}}
	busy := s
	busy.Status = discover.Waiting
	for _, tc := range []struct {
		sel  stopSelection
		of   discover.Session
		want bool
	}{
		{stopSelection{}, s, true},
		{stopSelection{idleFor: time.Hour}, s, true},
		{stopSelection{idleFor: time.Hour + 1}, s, false},
		{stopSelection{idleFor: time.Hour}, busy, false},
		{stopSelection{olderThan: 3 * time.Hour}, s, true},
		{stopSelection{olderThan: 3 * time.Hour}, resumed, false},
		{stopSelection{olderThan: 2 * time.Hour, idleFor: time.Minute}, resumed, true},
		{stopSelection{olderThan: 2 * time.Hour, idleFor: 2 * time.Hour}, resumed, false},
		{stopSelection{olderThan: time.Hour}, discover.UnknownSession(), false},
	} {
		if got := tc.sel.matches(tc.of, Now()); got != tc.want {
			t.Errorf("%+v of %s: %v", tc.sel, tc.of.Status, got)
		}
	}
}

func TestStopError(t *testing.T) {
	result := func(o stop.Outcome) stop.Result {
		return stop.Result{Before: discover.UnknownSession(), Outcome: o, Message: "m"}
	}
	for want, of := range map[int][]stop.Outcome{
		0: {stop.Stopped, stop.AlreadyStopped, stop.Released, stop.Planned},
		5: {stop.Stopped, stop.Refused},
		1: {stop.Refused, stop.Running, stop.Stopped},
	} {
		var results []stop.Result
		for _, o := range of {
			results = append(results, result(o))
		}
		if got := ExitCode(StopError(results)); got != want {
			t.Errorf("%v: exit %d", of, got)
		}
	}
	if got := ExitCode(StopError([]stop.Result{result(stop.Failed)})); got != 1 {
		t.Errorf("failed: exit %d", got)
	}
}
