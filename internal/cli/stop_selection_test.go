package cli

import (
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

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
