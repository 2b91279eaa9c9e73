package watch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/discover"
	"agentctl/proc"
	"agentctl/tests/must"
	"agentctl/tests/proctest"
	"agentctl/tests/stub"
)

// fakeSystem is a system whose files change and whose processes end when a test says so, and on which each snapshot takes
// time.
type fakeSystem struct {
	mu        sync.Mutex
	files     map[string]fileStamp
	exits     map[proc.ID]chan struct{}
	cost      time.Duration   // of a snapshot
	snapshots []time.Duration // when, since the start
	start     time.Time
}

func newFakeSystem(cost time.Duration) *fakeSystem {
	return &fakeSystem{files: map[string]fileStamp{}, exits: map[proc.ID]chan struct{}{}, cost: cost, start: time.Now()}
}

func (m *fakeSystem) write(path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := m.files[path]
	s.size++
	m.files[path] = s
}

func (m *fakeSystem) exitOf(id proc.ID) chan struct{} {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.exits[id] == nil {
		m.exits[id] = make(chan struct{})
	}
	return m.exits[id]
}

func (m *fakeSystem) system() system {
	return system{
		ended: func(ctx context.Context, id proc.ID) error {
			select {
			case <-m.exitOf(id):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		stamp:           func(path string) fileStamp { m.mu.Lock(); defer m.mu.Unlock(); return m.files[path] },
		now:             time.Now,
		startedBinaries: func() ([]string, error) { return nil, nil },
	}
}

// watch takes snapshots of a session of one file and one process until the time is up.
func (m *fakeSystem) watch(t *testing.T, d time.Duration) {
	t.Helper()
	s := discover.Session{Record: &discover.Record{Agent: "codex", Path: "/f"}, Processes: []proc.Process{{ID: proc.ID{PID: 7, Birth: "b"}}}}
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	p := newPoller(&discover.Scanner{})
	p.system = m.system()
	defer p.close()
	for {
		p.watch(ctx, []discover.Session{s})
		if len(m.snapshots) > 0 {
			if err := p.wait(ctx); err != nil {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("it ended with %v", err)
				}
				return
			}
		}
		p.snapshotBegan()
		m.snapshots = append(m.snapshots, time.Since(m.start))
		<-time.After(m.cost)
		p.snapshotEnded()
	}
}

// between counts the snapshots in a window of time.
func (m *fakeSystem) snapshotsBetween(from, to time.Duration) (n int) {
	for _, at := range m.snapshots {
		if from <= at && at <= to {
			n++
		}
	}
	return n
}

func TestAProcessExitTriggersASnapshotAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeSystem(100 * time.Millisecond) // an expensive snapshot, but an exit does not wait
		const end = 7*time.Second + 100*time.Millisecond
		time.AfterFunc(end, func() { close(m.exitOf(proc.ID{PID: 7, Birth: "b"})) })
		m.watch(t, 9*time.Second)
		if m.snapshotsBetween(end, end) != 1 {
			t.Errorf("no snapshot at %s: %v", end, m.snapshots)
		}
	})
}

// The stamps of a real file differ after it is created, grows, and is replaced by another of the same size and time.
func TestFileStampsDiffer(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f")
	seen := map[fileStamp]string{stampOf(path): "missing"}
	when := time.Unix(1e9, 0)
	put := func(name, text string) {
		must.Do(t, os.WriteFile(path+name, []byte(text), 0o600))
		must.Do(t, os.Chtimes(path+name, when, when))
	}
	check := func(what string) {
		if old, ok := seen[stampOf(path)]; ok {
			t.Errorf("the stamp after %s is that of %s", what, old)
		}
		seen[stampOf(path)] = what
	}
	put("", "a")
	check("created")
	put("", "ab")
	check("grown")
	put(".new", "cd")
	must.Do(t, os.Rename(path+".new", path))
	check("replaced")
	when = when.Add(time.Nanosecond)
	put("", "ef")
	check("rewritten")
}

// filterTest tests a watcher of a filter. Its clock moves only when the test moves it.
type filterTest struct {
	*watchTest
	clock time.Time
}

func newFilterTest(t *testing.T, sel discover.SessionFilter, claims []discover.Claim, records ...discover.Record) *filterTest {
	s := &filterTest{watchTest: newWatchTest(t, claims, records...), clock: stub.At(1000)}
	sys := newFakeSystem(0).system()
	sys.now = func() time.Time { return s.clock }
	s.watcher = NewFilterWatcher(s.scanner(), sel)
	s.watcher.poller.system = sys
	return s
}

func presence(pid int) discover.Claim {
	return discover.Claim{Agent: "codex", Process: proc.ID{PID: pid, Birth: "now"}}
}

// now returns the record as written now.
func (s *filterTest) now(r discover.Record) discover.Record { r.Updated = s.clock; return r }

// snapshotAfter takes a snapshot after this time.
func (s *filterTest) snapshotAfter(after time.Duration) discover.Result {
	s.t.Helper()
	s.clock = s.clock.Add(after)
	r, err := s.watcher.Snapshot(s.t.Context())
	if err != nil {
		s.t.Error(err)
	}
	return r
}

// sees takes a snapshot after this time, and expects these rows.
func (s *filterTest) expectSessions(after time.Duration, want string) {
	s.t.Helper()
	if rows := stub.Statuses(s.snapshotAfter(after).Sessions); rows != want {
		s.t.Errorf("%q; want %q", rows, want)
	}
}

func TestFilterWatcherShowsLiveSessionsAndEachStopOnce(t *testing.T) {
	s := newFilterTest(t, discover.SessionFilter{}, []discover.Claim{stub.ExactClaim("a", 7)}, stub.Record("codex", "a", 1), stub.Record("codex", "old", 1))
	s.expectSessions(0, "a:idle")
	s.ClaimList = append(s.ClaimList, stub.ExactClaim("b", 8))
	s.Records = append(s.Records, s.now(stub.Record("codex", "b", 0)))
	s.expectSessions(time.Second, "b:idle a:idle")
	s.processes = s.processes[1:]
	s.expectSessions(time.Second, "b:idle a:stopped")
	s.expectSessions(time.Second, "b:idle")
	s.expectSessions(idleInterval, "b:idle")
}

// What begins and ends between two snapshots is reported once, as soon as the storage shows it.
func TestFilterWatcherFindsSessionsThatWereNeverSeenLive(t *testing.T) {
	s := newFilterTest(t, discover.SessionFilter{}, nil, stub.Record("codex", "old", 1))
	s.expectSessions(0, "")
	s.clock = s.clock.Add(time.Second)
	s.Records = append(s.Records, s.now(stub.Record("codex", "b", 0)))
	s.expectSessions(0, "")
	s.expectSessions(idleInterval, "b:stopped")
	s.expectSessions(idleInterval, "")
	s.Records[1].Updated = s.Records[1].Updated.Add(time.Millisecond) // written late, and nothing new
	s.expectSessions(idleInterval, "")
	again := withOpenTurn(s.now(s.Records[0]))
	s.Records[0] = again // run again, and cut
	s.expectSessions(idleInterval, "old:stopped")
}

// An agent whose session was not known has ended: the storage is read at the next snapshot, not at the next idleInterval.
func TestFilterWatcherReadsTheStorageWhenAnAgentHasEnded(t *testing.T) {
	s := newFilterTest(t, discover.SessionFilter{}, nil)
	s.expectSessions(0, "")
	s.ClaimList = []discover.Claim{presence(7)}
	s.expectSessions(time.Second, ":running")
	s.Records, s.processes = []discover.Record{s.now(stub.Record("codex", "a", 0))}, nil
	s.expectSessions(time.Second, ":stopped")
	s.expectSessions(pollInterval, "a:stopped")
	s.expectSessions(pollInterval, "")
}

// S15: what cannot be read for a moment has not stopped.
func TestFilterWatcherDebouncesAStopWhileTheProcessLives(t *testing.T) {
	s := newFilterTest(t, discover.SessionFilter{}, []discover.Claim{presence(7), stub.ExactClaim("a", 7)}, withOpenTurn(stub.Record("codex", "a", 1)))
	s.expectSessions(0, "a:running")
	s.ClaimList = []discover.Claim{presence(7)}
	s.expectSessions(time.Second, "a:running")
	s.ClaimList = []discover.Claim{presence(7), stub.ExactClaim("a", 7)}
	s.expectSessions(time.Second, "a:running")
	s.ClaimList = []discover.Claim{presence(7)} // it has ended indeed
	s.expectSessions(time.Second, "a:running")
	s.expectSessions(stopDebounce, ":running a:stopped")
	s.expectSessions(time.Second, ":running")
}

// A headless run has not stopped as long as its process lives.
func TestFilterWatcherDoesNotBelieveThatAHeadlessRunOutlivesItsSession(t *testing.T) {
	run := withOpenTurn(stub.Record("codex", "a", 1))
	run.Source = "exec"
	s := newFilterTest(t, discover.SessionFilter{}, []discover.Claim{presence(7), stub.ExactClaim("a", 7)}, run)
	s.expectSessions(0, "a:running")
	s.ClaimList = []discover.Claim{presence(7)}
	s.expectSessions(time.Second, "a:running")
	s.expectSessions(time.Minute, "a:running")
}

// What a server begins is in the storage before the server shows that it runs it.
func TestFilterWatcherWaitsForALateClaim(t *testing.T) {
	s := newFilterTest(t, discover.SessionFilter{}, []discover.Claim{presence(7), stub.ExactClaim("a", 7)}, stub.Record("codex", "a", 1))
	s.expectSessions(0, "a:idle")
	s.Records = append(s.Records, s.now(withOpenTurn(stub.Record("codex", "b", 1))), s.now(stub.Record("codex", "c", 1)))
	s.expectSessions(idleInterval, "a:idle")
	s.expectSessions(claimDelay, "a:idle c:stopped") // whose turn has ended
	s.ClaimList = append(s.ClaimList, stub.ExactClaim("b", 7))
	s.expectSessions(claimDelay, "b:running a:idle")
	s.Records = append(s.Records, s.now(withOpenTurn(stub.Record("codex", "d", 1))))
	s.expectSessions(idleInterval, "b:running a:idle")
	s.expectSessions(idleInterval, "b:running a:idle d:stopped")
}

// If the whole store is missing, the status is unknown, and nothing has stopped.
func TestFilterWatcherSurvivesAMissingStore(t *testing.T) {
	records := []discover.Record{withOpenTurn(stub.Record("codex", "a", 1))}
	s := newFilterTest(t, discover.SessionFilter{}, []discover.Claim{presence(7), stub.ExactClaim("a", 7)}, records...)
	s.expectSessions(0, "a:running")
	s.ClaimList, s.Records = []discover.Claim{presence(7)}, nil
	for range 4 {
		s.expectSessions(idleInterval, "a:unknown")
	}
	s.ClaimList, s.Records = []discover.Claim{presence(7), stub.ExactClaim("a", 7)}, records
	s.expectSessions(idleInterval, "a:running")
}

// By /clear a process turns from one session to another: the first has stopped at once.
func TestFilterWatcherWhenAProcessSwitchesSessions(t *testing.T) {
	s := newFilterTest(t, discover.SessionFilter{}, []discover.Claim{presence(7), stub.ExactClaim("a", 7)}, stub.Record("codex", "a", 1), stub.Record("codex", "b", 2))
	s.expectSessions(0, "a:idle")
	s.ClaimList = []discover.Claim{presence(7), stub.ExactClaim("b", 7)}
	s.expectSessions(time.Second, "b:idle a:stopped")
	s.expectSessions(time.Second, "b:idle")
	s.ClaimList = []discover.Claim{presence(7), stub.ExactClaim("a", 7)} // and back, by /resume
	s.expectSessions(time.Second, "a:idle b:stopped")
}

func TestFilterWatcherWhenASessionIDBecomesKnown(t *testing.T) {
	s := newFilterTest(t, discover.SessionFilter{}, []discover.Claim{presence(7)}, stub.Record("codex", "a", 1), stub.Record("codex", "b", 2))
	s.expectSessions(0, ":running")
	s.ClaimList = []discover.Claim{presence(7), stub.ExactClaim("a", 7)}
	s.expectSessions(time.Second, "a:idle")
	s.ClaimList = []discover.Claim{presence(8), presence(7), stub.ExactClaim("a", 7)}
	s.expectSessions(time.Second, "a:idle :running")
	s.ClaimList = []discover.Claim{presence(8), stub.ExactClaim("a", 8), stub.ExactClaim("b", 8), presence(7)} // a server's, of several at once
	s.expectSessions(time.Second, "b:idle a:idle :running")
}

func TestFilterWatcherIncludesStoppedSessions(t *testing.T) {
	s := newFilterTest(t, discover.SessionFilter{IncludeStopped: true, Since: stub.At(2)}, []discover.Claim{stub.ExactClaim("a", 7)}, stub.Record("codex", "a", 4), stub.Record("codex", "b", 3), stub.Record("codex", "c", 1))
	s.expectSessions(0, "a:idle b:stopped")
	s.ClaimList, s.processes = []discover.Claim{stub.ExactClaim("b", 8)}, s.processes[1:]
	s.expectSessions(time.Second, "b:idle a:stopped")
	s.expectSessions(time.Second, "b:idle a:stopped")
	s.ClaimList, s.processes = nil, nil
	s.expectSessions(idleInterval, "a:stopped b:stopped")
	s.Records = s.Records[:1] // the user has deleted it
	s.expectSessions(idleInterval, "a:stopped")
}

// countingAdapter counts how often all sessions are searched, and how often single ones.
type countingAdapter struct {
	*watchTest
	whole, single int
}

func (c *countingAdapter) Entries(ctx context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	if len(q.Refs) > 0 {
		c.single++
	} else {
		c.whole++
	}
	return c.watchTest.Entries(ctx, homes, q)
}

// runWatcher watches the system for this long, with one session in process 7 whose file is "/f".
func runWatcher(t *testing.T, m *fakeSystem, span time.Duration) (c *countingAdapter, events int) {
	c = &countingAdapter{watchTest: newWatchTest(t, []discover.Claim{stub.ExactClaim("a", 7)}, stub.Record("codex", "a", 1))}
	scanner := stub.NewScanner(func() *proc.Table {
		m.snapshots = append(m.snapshots, time.Since(m.start))
		<-time.After(m.cost)
		return proctest.NewTable(c.processes...)
	}, c)
	ctx, stop := context.WithTimeout(t.Context(), span)
	defer stop()
	watcher := NewFilterWatcher(scanner, discover.SessionFilter{})
	watcher.poller.system = m.system()
	defer watcher.Close()
	for {
		if _, err := watcher.Next(ctx); err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("it ended with %v", err)
			}
			return c, events
		}
		events += len(watcher.Events())
	}
}

// busyTime is how long a busy system writes.
const busyTime = time.Minute

// newBusySystem returns a system on which a file changes all the time.
func newBusySystem(cost time.Duration) *fakeSystem {
	m := newFakeSystem(cost)
	go func() {
		for time.Since(m.start) < busyTime {
			m.write("/p/a")
			<-time.After(30 * time.Millisecond)
		}
	}()
	return m
}

// Whatever a snapshot costs and however much happens, a change is read within a second.
func TestPollingABusyMachineIsPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newBusySystem(200 * time.Millisecond)
		const span = busyTime
		runWatcher(t, m, span)
		last := time.Duration(0)
		for _, at := range m.snapshots {
			if at-last > time.Second {
				t.Errorf("no snapshot between %s and %s", last, at)
			}
			last = at
		}
		if n := len(m.snapshots); time.Duration(n) > span/maxDelay+1 {
			t.Errorf("%d snapshots", n)
		}
		synctest.Wait()
		<-time.After(30 * time.Millisecond) // the writer has ended, too
	})
}

// A new process that may be an agent triggers a snapshot at once. Another process does not.
func TestPollNoticesNewAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newFakeSystem(time.Millisecond)
		came := map[time.Duration]string{23 * time.Second: "/bin/other", 33 * time.Second: "/bin/codex"}
		sys := m.system()
		sys.startedBinaries = func() (exes []string, err error) {
			for at, exe := range came {
				if time.Since(m.start) >= at {
					exes = append(exes, exe)
					delete(came, at)
				}
			}
			return exes, nil
		}
		scanner := stub.NewScanner(func() *proc.Table {
			m.snapshots = append(m.snapshots, time.Since(m.start))
			return proctest.NewTable()
		}, binaryAdapter{stub.Adapter{Agent: "codex"}})
		ctx, stop := context.WithTimeout(t.Context(), 35*time.Second)
		defer stop()
		watcher := NewFilterWatcher(scanner, discover.SessionFilter{})
		watcher.poller.system = sys
		defer watcher.Close()
		for err := error(nil); err == nil; { // it ends with the context
			_, err = watcher.Next(ctx)
		}
		if m.snapshotsBetween(23*time.Second, 23*time.Second+2*pollInterval) > 0 || m.snapshotsBetween(33*time.Second, 33*time.Second+pollInterval) != 1 {
			t.Errorf("%v", m.snapshots)
		}
	})
}

// binaryAdapter is an adapter that knows its agent's program.
type binaryAdapter struct{ stub.Adapter }

func (binaryAdapter) WatchPaths(context.Context, discover.Session) []string { return nil }
func (binaryAdapter) MatchesBinary(exe string) bool                         { return exe == "/bin/codex" }
