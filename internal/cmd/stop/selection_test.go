package stop

import (
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/cmdtest"
)

func TestStopTakesByTime(t *testing.T) {
	s := discover.Session{Record: &discover.Record{Created: cmdtest.Now().Add(-3 * time.Hour), Updated: cmdtest.Now().Add(-time.Hour)}, Status: discover.Idle}
	resumed := s
	resumed.Processes = []proc.Process{{Started: cmdtest.Now().Add(-2 * time.Hour)}}
	busy := s
	busy.Status = discover.Waiting
	for _, tc := range []struct {
		sel  selection
		of   discover.Session
		want bool
	}{
		{selection{}, s, true},
		{selection{idleFor: time.Hour}, s, true},
		{selection{idleFor: time.Hour + 1}, s, false},
		{selection{idleFor: time.Hour}, busy, false},
		{selection{olderThan: 3 * time.Hour}, s, true},
		{selection{olderThan: 3 * time.Hour}, resumed, false},
		{selection{olderThan: 2 * time.Hour, idleFor: time.Minute}, resumed, true},
		{selection{olderThan: 2 * time.Hour, idleFor: 2 * time.Hour}, resumed, false},
		{selection{olderThan: time.Hour}, discover.UnknownSession(), false},
	} {
		if got := tc.sel.matches(tc.of, cmdtest.Now()); got != tc.want {
			t.Errorf("%+v of %s: %v", tc.sel, tc.of.Status, got)
		}
	}
}
