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
)

// stage is a world that a test changes between two looks. Its store holds as many places of a session as there are
// records of it.
type stage struct {
	memory
	t         *testing.T
	processes []proc.FakeProcess
	// reading is called before each batch of records is read, taking before each process table.
	reading, taking func()
	// best is the file that this agent goes by, of several that a session has; "": it has but one.
	best string
	// deep is when the turns began that tell it only if it is asked for.
	deep    map[string]time.Time
	watcher *Watcher
	clock   time.Time // of the watcher
}

// follows begins to watch the sessions that these arguments mean.
func (s *stage) follows(args ...string) {
	s.t.Helper()
	var sessions []discover.Session
	for _, arg := range args {
		r, err := s.world().Find(s.t.Context(), arg, nil, discover.ReadOptions{})
		if err != nil {
			s.t.Fatal(err)
		}
		sessions = append(sessions, r.Sessions...)
	}
	s.follow(sessions...)
}

// follow begins to watch these sessions.
func (s *stage) follow(sessions ...discover.Session) {
	sys := newMade(0).system()
	sys.now = func() time.Time { return s.clock }
	s.watcher = newWatcher(s.world(), sessions, sys)
}

func (s *stage) world() *discover.Scanner {
	return worldOf(func() *proc.Table {
		if s.taking != nil {
			s.taking()
		}
		return proc.NewFakeTable(s.processes...)
	}, s)
}

func (s *stage) Claims(ctx context.Context, table *proc.Table, homes []discover.Home) ([]discover.Claim, error) {
	return s.memory.Claims(ctx, table, homes)
}

func (s *stage) Entries(ctx context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	found, err := s.memory.Entries(ctx, homes, q)
	return slices.DeleteFunc(found, func(e discover.Entry) bool {
		return len(q.Refs) > 0 && !slices.ContainsFunc(q.Refs, func(r discover.Ref) bool {
			return r.ID == e.ID && (r.Path == e.Path || r.Path == "" && (s.best == "" || s.best == e.Path))
		})
	}), err
}

func (s *stage) Read(ctx context.Context, entries []discover.Entry, want discover.ReadOptions) iter.Seq2[discover.Record, error] {
	if s.reading != nil {
		s.reading()
	}
	return func(yield func(discover.Record, error) bool) {
		for r, err := range s.memory.Read(ctx, entries, want) {
			if began, ok := s.deep[r.ID]; ok && want.TurnStart {
				r.Turn.Began = began
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// expect looks again.
func (s *stage) expect(want string) discover.Result {
	s.t.Helper()
	r, err := s.watcher.Snapshot(s.t.Context())
	if got := ids(r.Sessions); err != nil || got != want {
		s.t.Errorf("%s, %v; want %s", got, err, want)
	}
	return r
}

func newStage(t *testing.T, claims []discover.Claim, records ...discover.Record) *stage {
	s := &stage{t: t, memory: memory{agent: "codex", claims: claims, records: records}, clock: time.Unix(1000000, 0)}
	s.processes = []proc.FakeProcess{fact(7, "now", 'S'), fact(8, "now", 'S'), fact(9, "now", 'S')}
	return s
}

func open(r discover.Record) discover.Record { r.Turn.State = discover.TurnOpen; return r }

func TestSnapshotKeepsTheOrderAndReadsNothingElse(t *testing.T) {
	var opened []string
	s := newStage(t, []discover.Claim{exact("b", 7), exact("x", 8)}, record("codex", "a", 1), open(record("codex", "b", 2)), record("codex", "x", 3))
	s.opened = &opened
	s.follows("b", "a")
	opened = nil
	s.expect("b:running a:stopped")
	if slices.Contains(opened, "x") {
		t.Errorf("read: %v", opened)
	}
	s.records[1] = record("codex", "b", 4)
	s.expect("b:idle a:stopped")
}

func TestWatcherFollowsASessionAcrossProcesses(t *testing.T) {
	s := newStage(t, []discover.Claim{exact("a", 7)}, record("codex", "a", 1))
	s.follows("a")
	s.expect("a:idle")
	s.claims = []discover.Claim{exact("b", 7)} // the process has gone on to another one, as by /clear
	s.expect("a:stopped")
	s.claims = []discover.Claim{exact("a", 8)} // and the session in another process
	r := s.expect("a:idle")
	if r.Sessions[0].Processes[0].ID.PID != 8 {
		t.Errorf("%v", r.Sessions[0].Processes)
	}
}

// What a process lets go of while it lives has not stopped at once; a headless one ends with its session.
func TestWatcherDebouncesAStopWhileTheProcessLives(t *testing.T) {
	for source, believed := range map[string]string{"tui": "a:stopped", "exec": "a:running", "print": "a:running", "run": "a:running"} {
		r := open(record("codex", "a", 1))
		r.Source = source
		s := newStage(t, []discover.Claim{exact("a", 7)}, r)
		s.follows("a")
		s.expect("a:running")
		s.claims = []discover.Claim{presence(7)}
		s.expect("a:running")
		if due := s.watcher.poller.wakeTime; !due.Equal(s.clock.Add(stopDebounce)) {
			t.Errorf("%s: another snapshot is due at %v, want %v", source, due, s.clock.Add(stopDebounce))
		}
		s.clock = s.clock.Add(stopDebounce)
		s.expect(believed)
		s.clock = s.clock.Add(time.Hour)
		s.expect(believed)
		s.processes = nil
		s.expect("a:stopped")
	}
}

// The end of a turn that is written between the reading of the storage and the death of the process counts.
func TestOutcomeRestsOnTheLastRecord(t *testing.T) {
	s := newStage(t, []discover.Claim{exact("a", 7)}, open(record("codex", "a", 1)))
	s.follows("a")
	s.expect("a:running")
	s.taking = func() { s.records[0], s.processes = record("codex", "a", 2), nil }
	if r := s.expect("a:stopped"); r.Sessions[0].Outcome != discover.Completed {
		t.Errorf("outcome %s", r.Sessions[0].Outcome)
	}
}

// A session that is first written in the last moments of its process is not without a record.
func TestOutcomeRestsOnALateRecord(t *testing.T) {
	late := exact("a", 7)
	late.Path = ""
	s := newStage(t, []discover.Claim{late})
	s.follows("a")
	s.expect("a:running")
	s.taking = func() { s.records, s.processes = []discover.Record{record("codex", "a", 2)}, nil }
	if r := s.expect("a:stopped"); r.Sessions[0].Outcome != discover.Completed {
		t.Errorf("outcome %s", r.Sessions[0].Outcome)
	}
}

// A stopped session that somebody goes on writing is told all the same.
func TestSnapshotOfASessionThatKeepsChanging(t *testing.T) {
	s := newStage(t, nil, record("codex", "a", 1))
	s.follows("a")
	minute := 1
	s.reading = func() { minute++; s.records[0] = record("codex", "a", minute) }
	s.expect("a:stopped")
}

func TestWatcherFollowsAMovedFile(t *testing.T) {
	s := newStage(t, []discover.Claim{exact("a", 7)}, open(record("codex", "a", 1)))
	s.follows("a")
	moved := open(record("codex", "a", 2))
	moved.Path = "/archive/a"
	claim := exact("a", 7)
	claim.Path = moved.Path
	s.records, s.claims = []discover.Record{moved}, []discover.Claim{claim}
	s.expect("a:running")
	s.claims, s.processes = nil, nil
	s.records[0].Turn.State = discover.TurnDone
	if r := s.expect("a:stopped"); r.Sessions[0].Path != moved.Path || r.Sessions[0].Outcome != discover.Completed {
		t.Errorf("%+v", r.Sessions[0])
	}
	s.records[0].Path = "/elsewhere/a" // no process says so
	if r := s.expect("a:stopped"); r.Sessions[0].Path != "/elsewhere/a" || r.Sessions[0].Outcome != discover.Completed {
		t.Errorf("%+v", r.Sessions[0])
	}
}

// What is followed is the caller's, too: that it has moved is noted elsewhere.
func TestSnapshotChangesNoRecord(t *testing.T) {
	s := newStage(t, []discover.Claim{exact("a", 7)}, open(record("codex", "a", 1)))
	s.follows("a")
	was := s.watcher.sessions()[0]
	path := was.Path
	s.records[0].Path, s.claims[0].Path = "/p/next", "/p/next"
	if r := s.expect("a:running"); r.Sessions[0].Path == path || was.Path != path {
		t.Errorf("%s, was %s; want another path, and %s", r.Sessions[0].Path, was.Path, path)
	}
}

// The agent goes on in another file, and leaves the old one where it is.
func TestWatcherFollowsASupersededFile(t *testing.T) {
	s := newStage(t, []discover.Claim{exact("a", 7)}, open(record("codex", "a", 1)))
	s.follows("a")
	next := record("codex", "a", 2)
	next.Path = "/p/next"
	claim := exact("a", 7)
	claim.Path = next.Path
	s.records, s.claims, s.best = append(s.records, next), []discover.Claim{claim}, next.Path
	if r := s.expect("a:idle"); r.Sessions[0].Path != next.Path {
		t.Errorf("%+v", r.Sessions[0])
	}
}

// One ID in two places is two sessions: what happens to the other one is nothing to this one.
func TestASessionWithTheSameIDIsAnotherSession(t *testing.T) {
	twin := open(record("codex", "a", 2))
	twin.Path, twin.Dir = "/p/twin", "/elsewhere"
	claim := exact("a", 7)
	claim.Path = twin.Path
	s := newStage(t, []discover.Claim{exact("a", 8), claim}, record("codex", "a", 1), twin)
	s.follow(discover.Session{Record: new(s.records[0])})
	s.expect("a:idle")
	s.claims, s.processes = []discover.Claim{claim}, s.processes[:1]
	s.expect("a:stopped")
}

func TestWatcherWhenASessionIDBecomesKnown(t *testing.T) {
	s := newStage(t, []discover.Claim{{Agent: "codex", Process: proc.ID{PID: 7, Birth: "now"}}}, open(record("codex", "a", 1)))
	s.follows("pid:7")
	s.expect(":running")
	s.claims = append(s.claims, exact("a", 7))
	s.expect("a:running")
	s.claims, s.processes = nil, nil
	s.expect("a:stopped")

	s = newStage(t, []discover.Claim{{Agent: "codex", Process: proc.ID{PID: 7, Birth: "now"}}})
	s.follows("pid:7")
	s.processes = nil
	if r := s.expect(":stopped"); r.Sessions[0].Outcome != discover.OutcomeUnknown {
		t.Errorf("%+v", r.Sessions[0])
	}
}

// S6: a store that is away is no death; nobody knows, until the process has ended.
func TestWatcherSurvivesAMissingStore(t *testing.T) {
	records := []discover.Record{open(record("codex", "a", 1))}
	s := newStage(t, []discover.Claim{exact("a", 7)}, records...)
	s.follows("a")
	s.records, s.claims = nil, []discover.Claim{{Agent: "codex", Process: proc.ID{PID: 7, Birth: "now"}}}
	s.expect("a:unknown")
	s.records, s.claims = records, []discover.Claim{exact("a", 7)}
	s.expect("a:running")
	s.records, s.processes = nil, nil
	if r := s.expect("a:stopped"); r.Sessions[0].Outcome != discover.OutcomeUnknown || len(r.Sessions[0].Processes) > 0 {
		t.Errorf("%+v", r.Sessions[0])
	}
	s.records = records
	if r := s.expect("a:stopped"); r.Sessions[0].Outcome != discover.Interrupted {
		t.Errorf("%+v", r.Sessions[0])
	}
}

func TestWatcherStopsNothingWithoutAProcessTable(t *testing.T) {
	s := newStage(t, nil, record("codex", "a", 1))
	s.follows("a")
	s.watcher.scanner.ReadTable = func(context.Context) (*proc.Table, error) { return nil, errors.New("no /proc") }
	s.expect("a:unknown")
	s.records = nil
	s.expect("a:unknown")
}

// How far back the newest turn began is read, or its beginning would change with the length of the turn.
func TestWatcherKnowsWhenTurnsStarted(t *testing.T) {
	s := newStage(t, nil, record("codex", "a", 1))
	s.follows("a")
	s.deep = map[string]time.Time{"a": s.clock}
	if began := s.expect("a:stopped").Sessions[0].Turn.Began; !began.Equal(s.clock) {
		t.Errorf("the turn began at %v", began)
	}
}

func TestNextEndsWithItsContext(t *testing.T) {
	s := newStage(t, nil, record("codex", "a", 1))
	s.follows("a")
	ctx, stop := context.WithCancel(t.Context())
	w := NewWatcher(s.world(), s.watcher.sessions())
	defer w.Close()
	if r, err := w.Next(ctx); err != nil || ids(r.Sessions) != "a:stopped" {
		t.Errorf("%v, %v", r.Sessions, err)
	}
	stop()
	if _, err := w.Next(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}
