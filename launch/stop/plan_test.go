package stop

import (
	"os"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
	"agentctl/tests/must"
)

// session is a made-up session that runs in processes with these pids.
func session(id, path string, status discover.Status, pids ...int) discover.Session {
	s := discover.Session{Record: &discover.Record{Agent: "testagent", ID: id, Path: path}, Status: status}
	for _, pid := range pids {
		s.Processes = append(s.Processes, proc.Process{ID: proc.ID{PID: pid, Birth: "1"}})
	}
	return s
}

// askedAdapter is the adapter of an agent that must be asked to end a session.
type askedAdapter struct{ launch.Adapter }

func (askedAdapter) NeedsInterrupt(discover.Session) bool { return true }

// ours is the session in a home of ours.
func ours(s discover.Session) discover.Session {
	s.Trust = discover.TrustOurs
	return s
}

// shared is the session in a process that serves others, by the agent's word.
func shared(s discover.Session) discover.Session {
	s.Shared = true
	return s
}

// Whatever is in the way before anything is sent is the plan's decision, so that --dry-run says what a run would.
func TestPlanDecidesBeforeAnythingIsSent(t *testing.T) {
	self, err := proc.Inspect(os.Getpid())
	must.Do(t, err)
	reachable := session("a", "/a", discover.Running, 1)
	reachable.Processes[0] = self
	none := launch.AdapterOf(nil, "testagent")
	beside := session("beside", "/beside", discover.Running, 1)
	other := session("other", "/other", discover.Running, 1)
	for name, test := range map[string]struct {
		session discover.Session
		chosen  []discover.Session
		adapter launch.Adapter
		force   bool
		refused string // in the refusal; "" if it is not refused
		stopped bool
		// what an execution may do
		asks, maySignal bool
	}{
		"a stopped session needs nothing": {session: session("a", "/a", discover.Stopped), stopped: true},
		"one process":                     {session: session("a", "/a", discover.Running, 2), maySignal: true},
		"no process is known":             {session: session("a", "/a", discover.Running), refused: "which process runs it is not known", force: true},
		"one of several processes":        {session: session("a", "/a", discover.Unknown, 2, 3), refused: "which process runs it is not known"},
		"shared with a session that was not chosen": {
			session: session("a", "/a", discover.Running, 1), refused: "pid 1 also runs other; stop them together, or --force",
		},
		"shared by the agent's word": {
			session: shared(session("a", "/a", discover.Running, 2)), refused: "pid 2 serves other sessions too; --force ends",
		},
		"shared by the agent's word, and with a session that is known": {
			session: shared(session("a", "/a", discover.Running, 1)), refused: "pid 1 also runs other; --force ends",
		},
		"shared, with force":                {session: session("a", "/a", discover.Running, 1), force: true, maySignal: true},
		"shared, and the agent can end one": {session: ours(shared(reachable)), adapter: askedAdapter{none}, asks: true},
		"the agent must be asked":           {session: ours(reachable), adapter: askedAdapter{none}, asks: true, maySignal: true},
		"the agent must be asked, in a home that is not ours": {
			session: reachable, adapter: askedAdapter{none}, refused: "--force ends its processes",
		},
		"the agent must be asked, and cannot be": {
			session: ours(session("a", "/a", discover.Running, 2)), adapter: askedAdapter{none}, refused: "--force ends its processes",
		},
		"the agent cannot be asked, with force":    {session: reachable, adapter: askedAdapter{none}, force: true, maySignal: true},
		"without an ID, no request can name it":    {session: ours(session("", "", discover.Idle, 2)), adapter: askedAdapter{none}, maySignal: true},
		"both sessions of a process were chosen":   {session: session("a", "/a", discover.Running, 1), chosen: []discover.Session{beside, other}, maySignal: true},
		"its sub-agent in the process is no other": {session: session("parent", "/p", discover.Running, 4), maySignal: true},
	} {
		t.Run(name, func(t *testing.T) {
			if test.adapter == nil {
				test.adapter = none
			}
			sub := session("sub", "/sub", discover.Running, 4)
			sub.Parent = "parent"
			r := &run{
				Options: Options{Force: test.force}, scanner: &discover.Scanner{UID: os.Geteuid()},
				snapshot: discover.Result{Sessions: []discover.Session{other, test.session, sub}, Table: proc.EmptyTable()},
			}
			p := r.newPlan(t.Context(), test.session, append(test.chosen, test.session), test.adapter)
			if p.stopped != test.stopped || p.asks != test.asks || p.maySignal != test.maySignal && test.refused == "" {
				t.Errorf("stopped %v, asks %v, signals %v", p.stopped, p.asks, p.maySignal)
			}
			if (p.refusal != nil) != (test.refused != "") || p.refusal != nil && !strings.Contains(p.refusal.Error(), test.refused) {
				t.Errorf("refused: %v; want %q", p.refusal, test.refused)
			}
		})
	}
}

// A process that has ended is no candidate for running the session.
func TestRefusalNamesLiveProcessesOnly(t *testing.T) {
	self, err := proc.Inspect(os.Getpid())
	must.Do(t, err)
	s := session("a", "/a", discover.Unknown)
	ended := self.ID
	ended.Birth += "0"
	for _, id := range []proc.ID{ended, self.ID, self.ID} {
		s.Evidence = append(s.Evidence, discover.Evidence{Claim: discover.Claim{Process: id}})
	}
	want := ": it may be " + self.ID.String()
	if got := launch.DescribeCandidates(s); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestSessionsAreFoundByIdentity(t *testing.T) {
	for name, test := range map[string]struct {
		list  []discover.Session
		of    discover.Session
		found int // its index; -1: none
	}{
		"agent, ID and path":                      {[]discover.Session{session("a", "/1", ""), session("a", "/2", "")}, session("a", "/2", ""), 1},
		"another path is another session":         {[]discover.Session{session("a", "/1", "", 1)}, session("a", "/2", "", 2), -1},
		"the process, where the path has changed": {[]discover.Session{session("a", "/1", "", 1)}, session("a", "/2", "", 1), 0},
		"the key comes before the process":        {[]discover.Session{session("a", "/1", "", 1), session("a", "/2", "", 1)}, session("a", "/2", "", 1), 1},
		"another ID is another session":           {[]discover.Session{session("b", "/1", "", 1)}, session("a", "/1", "", 1), -1},
		"the process, where the path was not":     {[]discover.Session{session("a", "/1", "", 1), session("a", "/2", "", 2)}, session("a", "", "", 2), 1},
		"an ID alone is no identity":              {[]discover.Session{session("a", "/1", "")}, session("a", "", "", 2), -1},
		"without an ID, the process":              {[]discover.Session{session("", "", "", 1), session("", "", "", 2)}, session("", "", "", 2), 1},
		"without an ID, nothing but the process":  {[]discover.Session{session("", "", "", 1)}, session("", "", "", 2), -1},
		"the process has got an ID meanwhile":     {[]discover.Session{session("a", "/1", "", 2)}, session("", "", "", 2), 0},
		"the process has got several meanwhile":   {[]discover.Session{session("a", "/1", "", 2), session("b", "/2", "", 2)}, session("", "", "", 2), -1},
	} {
		t.Run(name, func(t *testing.T) {
			got, ok := launch.FindAgain(test.list, test.of)
			if ok != (test.found >= 0) || ok && got.Key() != test.list[test.found].Key() {
				t.Errorf("found %v (%v), want index %d", got.Key(), ok, test.found)
			}
		})
	}
}

// Between the choice of a session and the snapshot, its process may have ended, or may have begun another session.
func TestChosenSessionIsReadAgain(t *testing.T) {
	table, err := proc.ReadTable(t.Context(), false)
	must.Do(t, err)
	self, _ := table.ByPID(os.Getpid())
	parent, _ := table.ByPID(os.Getppid())
	in := func(id, path string, p proc.Process) discover.Session {
		s := session(id, path, discover.Running)
		s.Processes = []proc.Process{p}
		return s
	}
	ended := self
	ended.ID.Birth += "0"
	for name, test := range map[string]struct {
		now    []discover.Session
		chosen discover.Session
		status discover.Status
		path   string
	}{
		"it has moved":                              {[]discover.Session{in("a", "/2", self)}, in("a", "/1", self), discover.Running, "/2"},
		"its process has ended":                     {nil, in("a", "/1", ended), discover.Stopped, "/1"},
		"its process runs another session":          {[]discover.Session{in("b", "/b", self)}, in("a", "/1", self), discover.Stopped, "/1"},
		"its process shows no session":              {nil, in("a", "/1", self), discover.Running, "/1"},
		"its process shows a session without an ID": {[]discover.Session{in("", "", self)}, in("a", "/1", self), discover.Running, "/1"},
		"the same ID runs elsewhere":                {[]discover.Session{in("a", "/2", parent)}, in("a", "/1", ended), discover.Stopped, "/1"},
	} {
		t.Run(name, func(t *testing.T) {
			r := &run{scanner: &discover.Scanner{}, snapshot: discover.Result{Sessions: test.now, Table: table}}
			got := r.refresh(test.chosen)
			if got.Status != test.status || got.Path != test.path || (len(got.Processes) > 0) != (test.status == discover.Running) {
				t.Errorf("%s at %s in %v, want %s at %s", got.Status, got.Path, got.Processes, test.status, test.path)
			}
		})
	}
}
