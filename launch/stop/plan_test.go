package stop

import (
	"testing"

	"agentctl/discover"
	"agentctl/proc"
)

// session is a made-up session that runs in processes with these pids.
func session(id, path string, status discover.Status, pids ...int) discover.Session {
	s := discover.Session{Record: &discover.Record{Agent: "actor", ID: id, Path: path}, Status: status}
	for _, pid := range pids {
		s.Processes = append(s.Processes, proc.Process{ID: proc.ID{PID: pid, Birth: "1"}})
	}
	return s
}

func TestPlanDecidesByTheSnapshotAlone(t *testing.T) {
	other := session("other", "/other", discover.Running, 1)
	for name, test := range map[string]struct {
		session discover.Session
		chosen  []discover.Session
		action  action
		shared  bool
	}{
		"a stopped session needs nothing":         {session: session("a", "/a", discover.Stopped), action: actionNone},
		"a session of one process is ended":       {session: session("a", "/a", discover.Running, 2), action: actionEnd},
		"a session without a process is refused":  {session: session("a", "/a", discover.Running), action: actionRefuse},
		"one of several processes is refused":     {session: session("a", "/a", discover.Unknown, 2, 3), action: actionRefuse},
		"another session shares the process":      {session: session("a", "/a", discover.Running, 1), action: actionEnd, shared: true},
		"both sessions of a process were chosen":  {session: session("a", "/a", discover.Running, 1), chosen: []discover.Session{other}, action: actionEnd},
		"the ID in another directory is no other": {session: session("other", "/other", discover.Running, 1), action: actionEnd},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlan(test.session, append(test.chosen, test.session), []discover.Session{other, test.session}, defaultStopper{})
			if p.action != test.action || p.shared != test.shared || (p.reason != "") != (p.action == actionRefuse) {
				t.Errorf("action %d, shared %v, reason %q; want action %d, shared %v", p.action, p.shared, p.reason, test.action, test.shared)
			}
		})
	}
}

func TestSessionsAreFoundByIdentity(t *testing.T) {
	for name, test := range map[string]struct {
		list  []discover.Session
		of    discover.Session
		found int // its index; -1: none
	}{
		"agent, ID and path":                     {[]discover.Session{session("a", "/1", ""), session("a", "/2", "")}, session("a", "/2", ""), 1},
		"another path is another session":        {[]discover.Session{session("a", "/1", "", 1)}, session("a", "/2", "", 1), -1},
		"another ID is another session":          {[]discover.Session{session("b", "/1", "", 1)}, session("a", "/1", "", 1), -1},
		"the process, where the path was not":    {[]discover.Session{session("a", "/1", "", 1), session("a", "/2", "", 2)}, session("a", "", "", 2), 1},
		"the only one with the ID":               {[]discover.Session{session("a", "/1", "")}, session("a", "", "", 2), 0},
		"not one of several with the ID":         {[]discover.Session{session("a", "/1", ""), session("a", "/2", "")}, session("a", "", "", 2), -1},
		"without an ID, the process":             {[]discover.Session{session("", "", "", 1), session("", "", "", 2)}, session("", "", "", 2), 1},
		"without an ID, nothing but the process": {[]discover.Session{session("", "", "", 1)}, session("", "", "", 2), -1},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := findSession(test.list, test.of)
			if ok != (test.found >= 0) || ok && got.Key() != test.list[test.found].Key() {
				t.Errorf("found %v (%v), want index %d", got.Key(), ok, test.found)
			}
		})
	}
}
