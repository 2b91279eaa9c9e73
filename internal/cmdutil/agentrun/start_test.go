package agentrun

import (
	"errors"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/launch"
	"agentctl/proc"
)

// The hint for a live session that was to be resumed helps: stop does not end one that is idle in a process with others.
func TestLiveSessionsAreNotResumed(t *testing.T) {
	for name, test := range map[string]struct {
		status discover.Status
		shared bool
		hint   string
	}{
		"running":             {discover.Running, false, "stop it"},
		"idle":                {discover.Idle, false, "stop it"},
		"running in a daemon": {discover.Running, true, "stop it"},
		"idle in a daemon":    {discover.Idle, true, "pid 7 keeps it open: talk to it there"},
	} {
		s := discover.Session{Record: &discover.Record{Agent: "codex", ID: "a"}, Status: test.status, Shared: test.shared}
		s.Processes = []proc.Process{{ID: proc.ID{PID: 7, Birth: "b"}}}
		err := refusal(&launch.LiveError{Session: s})
		var conflict *cmdutil.Failure
		if !errors.As(err, &conflict) || cmdutil.ExitCode(err) != cmdutil.ExitConflict || !strings.Contains(conflict.Hint, test.hint) {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

// A start that was not proven in time and is to be waited for is left alone: nothing is stopped.
func TestAnUnprovenStartIsLeftAlone(t *testing.T) {
	s := discover.Session{Record: &discover.Record{Agent: "codex", ID: "a"}}
	l := &Launched{
		Options: &Options{Wait: true, CommonFlags: cmdutil.CommonFlags{Quiet: true}}, Call: &cmdutil.Call{},
		Verification: &launch.Verification{Session: s}, execution: &launch.Execution{},
	}
	failed := cmdutil.TimeoutError("it did not appear", "")
	if err := l.Print(t.Context(), failed); !errors.Is(err, failed) {
		t.Errorf("%v", err)
	}
}
