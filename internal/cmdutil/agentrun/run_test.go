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

// What is said to a person who goes on with a live session is of use to them: stop does not end one that is idle in a
// process with others.
func TestLiveSessionsAreNotResumed(t *testing.T) {
	for name, test := range map[string]struct {
		status discover.Status
		shared bool
		fork   bool
		hint   string
	}{
		"at work":                   {discover.Running, false, false, "stop it"},
		"idle":                      {discover.Idle, false, false, "stop it"},
		"at work in a daemon":       {discover.Running, true, false, "stop it"},
		"idle in a daemon":          {discover.Idle, true, false, "pid 7 keeps it open: talk to it there"},
		"idle in a daemon, to copy": {discover.Idle, true, true, ""},
		"stopped":                   {discover.Stopped, false, false, ""},
	} {
		s := discover.Session{Record: &discover.Record{Agent: "codex", ID: "a"}, Status: test.status, Shared: test.shared}
		if test.status.Live() {
			s.Processes = []proc.Process{{ID: proc.ID{PID: 7, Birth: "b"}}}
		}
		st := &Run{Request: launch.Request{Resume: &s, Fork: test.fork}}
		err := st.checkResumable(discover.Result{Sessions: []discover.Session{s}})
		var conflict *cmdutil.Failure
		if errors.As(err, &conflict) != (test.hint != "") || conflict != nil && !strings.Contains(conflict.Hint, test.hint) {
			t.Errorf("%s: %+v", name, err)
		}
	}
}

// A start that was not proven in time and is to be waited for is left alone: nothing is stopped.
func TestAnUnprovenStartIsLeftAlone(t *testing.T) {
	r := &Run{Options: &Options{Wait: true}, Err: cmdutil.TimeoutError("it did not appear", "")}
	if err := r.WaitForEnd(t.Context()); !errors.Is(err, r.Err) {
		t.Errorf("%v", err)
	}
}
