package cli

import (
	"testing"

	"agentctl/discover"
	"agentctl/launch/stop"
)

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
