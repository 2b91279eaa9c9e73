package await

import (
	"errors"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/tests/cmdtest"
)

func TestReachedUntil(t *testing.T) {
	now := cmdtest.Now()
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
