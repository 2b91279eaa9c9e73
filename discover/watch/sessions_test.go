package watch

import (
	"context"
	"errors"
	"iter"
	"slices"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/proctest"
	"agentctl/tests/stub"
)

// watchTest tests a watcher of given sessions. The test changes the processes, claims and records between two snapshots. A
// session may have several records, each with its path.
type watchTest struct {
	stub.Adapter
	t         *testing.T
	processes []proctest.Process
	// onTable is called before each process table is read.
	onTable func()
	// currentPath is the file that the agent uses, of several that a session has; "": it has one.
	currentPath string
	// turnStarts are the starts of turns that are read only if they are asked for.
	turnStarts map[string]time.Time
	watcher    *Watcher
	clock      time.Time // of the watcher
}

// watch begins to watch the sessions that these arguments mean.
func (s *watchTest) watch(args ...string) {
	s.t.Helper()
	var sessions []discover.Session
	for _, arg := range args {
		r, err := s.scanner().Find(s.t.Context(), arg, nil, discover.ReadOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		sessions = append(sessions, r.Sessions...)
	}
	s.watchSessions(sessions...)
}

// watchSessions begins to watch these sessions.
func (s *watchTest) watchSessions(sessions ...discover.Session) {
	sys := newFakeSystem(0).system()
	sys.now = func() time.Time { return s.clock }
	s.watcher = NewWatcher(s.scanner(), sessions)
	s.watcher.poller.system = sys
}

func (s *watchTest) scanner() *discover.Scanner {
	return stub.NewScanner(func() *proc.Table {
		if s.onTable != nil {
			s.onTable()
		}
		return proctest.NewTable(s.processes...)
	}, s)
}

func (s *watchTest) Entries(ctx context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	found, err := s.Adapter.Entries(ctx, homes, q)
	return slices.DeleteFunc(found, func(e discover.Entry) bool {
		return len(q.Refs) > 0 && !slices.ContainsFunc(q.Refs, func(r discover.Ref) bool {
			return r.ID == e.ID && (r.Path == e.Path || r.Path == "" && (s.currentPath == "" || s.currentPath == e.Path))
		})
	}), err
}

func (s *watchTest) Read(ctx context.Context, entries []discover.Entry, want discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		for r, err := range s.Adapter.Read(ctx, entries, want) {
			if began, ok := s.turnStarts[r.ID]; ok && want.TurnStart {
				r.Turn.Began = began
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// expectSnapshot takes a snapshot, and expects these sessions.
func (s *watchTest) expectSnapshot(want string) discover.Result {
	s.t.Helper()
	r, err := s.watcher.Snapshot(s.t.Context())
	if got := stub.Statuses(r.Sessions); err != nil || got != want {
		s.t.Errorf("%s, %v; want %s", got, err, want)
	}
	return r
}

func newWatchTest(t *testing.T, claims []discover.Claim, records ...discover.Record) *watchTest {
	s := &watchTest{t: t, Adapter: stub.Adapter{Agent: "codex", ClaimList: claims, Records: records}, clock: time.Unix(1000000, 0)}
	s.processes = []proctest.Process{stub.Process(7, "now", 'S'), stub.Process(8, "now", 'S'), stub.Process(9, "now", 'S')}
	return s
}

func withOpenTurn(r discover.Record) discover.Record { r.Turn.State = discover.TurnOpen; return r }

func TestWatcherFollowsASessionAcrossProcesses(t *testing.T) {
	s := newWatchTest(t, []discover.Claim{stub.ExactClaim("a", 7)}, stub.Record("codex", "a", 1))
	s.watch("a")
	s.expectSnapshot("a:idle")
	s.ClaimList = []discover.Claim{stub.ExactClaim("b", 7)} // the process has gone on to another one, as by /clear
	s.expectSnapshot("a:stopped")
	s.ClaimList = []discover.Claim{stub.ExactClaim("a", 8)} // and the session in another process
	r := s.expectSnapshot("a:idle")
	if r.Sessions[0].Processes[0].ID.PID != 8 {
		t.Errorf("%v", r.Sessions[0].Processes)
	}
}

// Whoever waits for a time is woken then, though nothing has changed; the next wait is as long as ever.
func TestWatcherWakesInTime(t *testing.T) {
	s := newWatchTest(t, []discover.Claim{stub.ExactClaim("a", 7)}, stub.Record("codex", "a", 1))
	s.watch("a")
	s.expectSnapshot("a:idle")
	s.watcher.WakeIn(time.Hour)
	s.watcher.WakeIn(time.Minute)
	if due := s.watcher.poller.wakeTime; !due.Equal(s.clock.Add(time.Minute)) {
		t.Errorf("another snapshot is due at %v, want %v", due, s.clock.Add(time.Minute))
	}
	s.expectSnapshot("a:idle")
	if due := s.watcher.poller.wakeTime; !due.IsZero() {
		t.Errorf("another snapshot is due at %v, though nobody waits for it", due)
	}
}

// The end of a turn that is written between the reading of the storage and the death of the process counts.
func TestOutcomeRestsOnTheLastRecord(t *testing.T) {
	s := newWatchTest(t, []discover.Claim{stub.ExactClaim("a", 7)}, withOpenTurn(stub.Record("codex", "a", 1)))
	s.watch("a")
	s.expectSnapshot("a:running")
	s.onTable = func() { s.Records[0], s.processes = stub.Record("codex", "a", 2), nil }
	if r := s.expectSnapshot("a:stopped"); r.Sessions[0].Outcome != discover.Completed {
		t.Errorf("outcome %s", r.Sessions[0].Outcome)
	}
}

// A session that is first written in the last moments of its process is not without a record.
func TestOutcomeRestsOnALateRecord(t *testing.T) {
	late := stub.ExactClaim("a", 7)
	late.Path = ""
	s := newWatchTest(t, []discover.Claim{late})
	s.watch("a")
	s.expectSnapshot("a:running")
	s.onTable = func() { s.Records, s.processes = []discover.Record{stub.Record("codex", "a", 2)}, nil }
	if r := s.expectSnapshot("a:stopped"); r.Sessions[0].Outcome != discover.Completed {
		t.Errorf("outcome %s", r.Sessions[0].Outcome)
	}
}

// A stopped session whose storage changes with each read is reported all the same.
func TestSnapshotOfASessionThatKeepsChanging(t *testing.T) {
	s := newWatchTest(t, nil, stub.Record("codex", "a", 1))
	s.watch("a")
	minute := 1
	s.OnRead = func() { minute++; s.Records[0] = stub.Record("codex", "a", minute) }
	s.expectSnapshot("a:stopped")
}

func TestWatcherFollowsAMovedFile(t *testing.T) {
	s := newWatchTest(t, []discover.Claim{stub.ExactClaim("a", 7)}, withOpenTurn(stub.Record("codex", "a", 1)))
	s.watch("a")
	moved := withOpenTurn(stub.Record("codex", "a", 2))
	moved.Path = "/archive/a"
	claim := stub.ExactClaim("a", 7)
	claim.Path = moved.Path
	s.Records, s.ClaimList = []discover.Record{moved}, []discover.Claim{claim}
	s.expectSnapshot("a:running")
	s.ClaimList, s.processes = nil, nil
	s.Records[0].Turn.State = discover.TurnDone
	if r := s.expectSnapshot("a:stopped"); r.Sessions[0].Path != moved.Path || r.Sessions[0].Outcome != discover.Completed {
		t.Errorf("%+v", r.Sessions[0])
	}
	s.Records[0].Path = "/elsewhere/a" // no process says so
	if r := s.expectSnapshot("a:stopped"); r.Sessions[0].Path != "/elsewhere/a" || r.Sessions[0].Outcome != discover.Completed {
		t.Errorf("%+v", r.Sessions[0])
	}
}

// The agent continues a session in another file and keeps the old one.
func TestWatcherFollowsASupersededFile(t *testing.T) {
	s := newWatchTest(t, []discover.Claim{stub.ExactClaim("a", 7)}, withOpenTurn(stub.Record("codex", "a", 1)))
	s.watch("a")
	next := stub.Record("codex", "a", 2)
	next.Path = "/p/next"
	claim := stub.ExactClaim("a", 7)
	claim.Path = next.Path
	s.Records, s.ClaimList, s.currentPath = append(s.Records, next), []discover.Claim{claim}, next.Path
	if r := s.expectSnapshot("a:idle"); r.Sessions[0].Path != next.Path {
		t.Errorf("%+v", r.Sessions[0])
	}
}

// One ID with two paths is two sessions. A change of one does not change the other.
func TestASessionWithTheSameIDIsAnotherSession(t *testing.T) {
	twin := withOpenTurn(stub.Record("codex", "a", 2))
	twin.Path, twin.Dir = "/p/twin", "/elsewhere"
	claim := stub.ExactClaim("a", 7)
	claim.Path = twin.Path
	s := newWatchTest(t, []discover.Claim{stub.ExactClaim("a", 8), claim}, stub.Record("codex", "a", 1), twin)
	s.watchSessions(discover.Session{Record: new(s.Records[0])})
	s.expectSnapshot("a:idle")
	s.ClaimList, s.processes = []discover.Claim{claim}, s.processes[:1]
	s.expectSnapshot("a:stopped")
}

func TestWatcherStopsNothingWithoutAProcessTable(t *testing.T) {
	s := newWatchTest(t, nil, stub.Record("codex", "a", 1))
	s.watch("a")
	s.watcher.scanner.ReadTable = func(context.Context, bool) (*proc.Table, error) { return nil, errors.New("no /proc") }
	s.expectSnapshot("a:unknown")
	s.Records = nil
	s.expectSnapshot("a:unknown")
}

// A watcher reads the start of the newest turn, however long the turn is.
func TestWatcherKnowsWhenTurnsStarted(t *testing.T) {
	s := newWatchTest(t, nil, stub.Record("codex", "a", 1))
	s.watch("a")
	s.turnStarts = map[string]time.Time{"a": s.clock}
	if began := s.expectSnapshot("a:stopped").Sessions[0].Turn.Began; !began.Equal(s.clock) {
		t.Errorf("the turn began at %v", began)
	}
}

// A turn begins in an idle terminal. Either its storage or its process shows that first (SEEN Claude Code 2.1.197 and 2.1.330); in
// both orders, the first of the two is a change. TestUntilATurnBegins in internal/cli shows that a wait then ends well.
func TestABeginningTurnIsAChangeInBothOrders(t *testing.T) {
	for name, first := range map[string]struct {
		stored, shown discover.TurnState
		status        string
	}{
		"storage first": {discover.TurnOpen, discover.TurnDone, "a:idle"},
		"process first": {discover.TurnDone, discover.TurnOpen, "a:running"},
	} {
		t.Run(name, func(t *testing.T) {
			shows := func(turn discover.TurnState) []discover.Claim {
				c := stub.ExactClaim("a", 7)
				c.Turn = &discover.Turn{State: turn}
				return []discover.Claim{c}
			}
			stored := func(turn discover.TurnState, minute int) []discover.Record {
				r := stub.Record("codex", "a", minute)
				r.Turn = discover.Turn{State: turn, Began: stub.At(minute)}
				return []discover.Record{r}
			}
			minuteOf := map[discover.TurnState]int{discover.TurnDone: 1, discover.TurnOpen: 2}
			s := newWatchTest(t, shows(discover.TurnDone), stored(discover.TurnDone, 1)...)
			s.watch("a")
			before := s.expectSnapshot("a:idle").Sessions[0]
			if same := s.expectSnapshot("a:idle").Sessions[0]; Changed(same, before) {
				t.Errorf("a change without one: %+v", same)
			}
			s.ClaimList, s.Records = shows(first.shown), stored(first.stored, minuteOf[first.stored])
			now := s.expectSnapshot(first.status).Sessions[0]
			if !Changed(now, before) || now.Turn.State != first.stored {
				t.Errorf("no change: turn %+v, before %+v", now.Turn, before.Turn)
			}
			s.ClaimList, s.Records = shows(discover.TurnOpen), stored(discover.TurnOpen, 2)
			if both := s.expectSnapshot("a:running").Sessions[0]; !Changed(both, before) {
				t.Errorf("no change: %+v", both)
			}
		})
	}
}
