package launch

import (
	"errors"
	"testing"

	"agentctl/discover"
	"agentctl/lock"
)

// A live session is not resumed, but it can be copied.
func TestLiveSessionsAreNotResumed(t *testing.T) {
	for name, test := range map[string]struct {
		status        discover.Status
		fork, refused bool
	}{
		"running":         {discover.Running, false, true},
		"idle":            {discover.Idle, false, true},
		"stopped":         {discover.Stopped, false, false},
		"running, a copy": {discover.Running, true, false},
	} {
		s := discover.Session{Record: &discover.Record{Agent: "puppet", ID: "a"}, Status: test.status}
		other := discover.Session{Record: &discover.Record{Agent: "puppet", ID: "b"}, Status: discover.Running}
		p := &Plan{
			Request:  Request{Resume: &s, Fork: test.fork},
			Activity: &lock.Activity{Result: discover.Result{Sessions: []discover.Session{other, s}}},
		}
		err := p.checkResumable()
		live := (*LiveError)(nil)
		if errors.As(err, &live) != test.refused || live != nil && live.Session.ID != "a" {
			t.Errorf("%s: %v", name, err)
		}
	}
}
