package watch

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// watched watches a stage by a clock that stands still but when it is moved on.
type watched struct {
	*stage
	clock time.Time
}

func watches(t *testing.T, sel discover.SessionFilter, claims []discover.Claim, records ...discover.Record) *watched {
	s := &watched{stage: newStage(t, claims, records...), clock: at(1000)}
	sys := newMade(0).system()
	sys.now = func() time.Time { return s.clock }
	s.watcher = newFilterWatcher(s.world(), sel, sys)
	return s
}

func presence(pid int) discover.Claim {
	return discover.Claim{Agent: "codex", Process: proc.ID{PID: pid, Birth: "now"}}
}

// now is a record that is written now.
func (s *watched) now(r discover.Record) discover.Record { r.Updated = s.clock; return r }

// snapshotAfter takes a snapshot after this time.
func (s *watched) snapshotAfter(after time.Duration) discover.Result {
	s.t.Helper()
	s.clock = s.clock.Add(after)
	r, err := s.watcher.Snapshot(s.t.Context())
	if err != nil {
		s.t.Error(err)
	}
	return r
}

// sees takes a snapshot after this time, and expects these rows.
func (s *watched) sees(after time.Duration, want string) {
	s.t.Helper()
	if rows := ids(s.snapshotAfter(after).Sessions); rows != want {
		s.t.Errorf("%q; want %q", rows, want)
	}
}

func TestFilterWatcherShowsLiveSessionsAndEachStopOnce(t *testing.T) {
	s := watches(t, discover.SessionFilter{}, []discover.Claim{exact("a", 7)}, record("codex", "a", 1), record("codex", "old", 1))
	s.sees(0, "a:idle")
	s.claims = append(s.claims, exact("b", 8))
	s.records = append(s.records, s.now(record("codex", "b", 0)))
	s.sees(time.Second, "b:idle a:idle")
	s.processes = s.processes[1:]
	s.sees(time.Second, "b:idle a:stopped")
	s.sees(time.Second, "b:idle")
	s.sees(idleInterval, "b:idle")
}

// What begins and ends between two snapshots is reported once, as soon as the storage shows it.
func TestFilterWatcherFindsSessionsThatWereNeverSeenLive(t *testing.T) {
	s := watches(t, discover.SessionFilter{}, nil, record("codex", "old", 1))
	s.sees(0, "")
	s.clock = s.clock.Add(time.Second)
	s.records = append(s.records, s.now(record("codex", "b", 0)))
	s.sees(0, "")
	s.sees(idleInterval, "b:stopped")
	s.sees(idleInterval, "")
	s.records[1].Updated = s.records[1].Updated.Add(time.Millisecond) // written late, and nothing new
	s.sees(idleInterval, "")
	again := open(s.now(s.records[0]))
	s.records[0] = again // run again, and cut
	s.sees(idleInterval, "old:stopped")
}

// An agent whose session was not known has ended: the storage is read at the next snapshot, not at the next idleInterval.
func TestFilterWatcherReadsTheStorageWhenAnAgentHasEnded(t *testing.T) {
	s := watches(t, discover.SessionFilter{}, nil)
	s.sees(0, "")
	s.claims = []discover.Claim{presence(7)}
	s.sees(time.Second, ":running")
	s.records, s.processes = []discover.Record{s.now(record("codex", "a", 0))}, nil
	s.sees(time.Second, ":stopped")
	s.sees(pollInterval, "a:stopped")
	s.sees(pollInterval, "")
}

// S15: what cannot be read for a moment has not stopped.
func TestFilterWatcherDebouncesAStopWhileTheProcessLives(t *testing.T) {
	s := watches(t, discover.SessionFilter{}, []discover.Claim{presence(7), exact("a", 7)}, open(record("codex", "a", 1)))
	s.sees(0, "a:running")
	s.claims = []discover.Claim{presence(7)}
	s.sees(time.Second, "a:running")
	s.claims = []discover.Claim{presence(7), exact("a", 7)}
	s.sees(time.Second, "a:running")
	s.claims = []discover.Claim{presence(7)} // it has ended indeed
	s.sees(time.Second, "a:running")
	s.sees(stopDebounce, ":running a:stopped")
	s.sees(time.Second, ":running")
}

// What a server begins is in the storage before the server shows that it runs it.
func TestFilterWatcherWaitsForALateClaim(t *testing.T) {
	s := watches(t, discover.SessionFilter{}, []discover.Claim{presence(7), exact("a", 7)}, record("codex", "a", 1))
	s.sees(0, "a:idle")
	s.records = append(s.records, s.now(open(record("codex", "b", 1))), s.now(record("codex", "c", 1)))
	s.sees(idleInterval, "a:idle")
	s.sees(claimDelay, "a:idle c:stopped") // whose turn has ended
	s.claims = append(s.claims, exact("b", 7))
	s.sees(claimDelay, "b:running a:idle")
	s.records = append(s.records, s.now(open(record("codex", "d", 1))))
	s.sees(idleInterval, "b:running a:idle")
	s.sees(idleInterval, "b:running a:idle d:stopped")
}

// The whole store is away: the status is unknown, and nothing has stopped.
func TestFilterWatcherSurvivesAMissingStore(t *testing.T) {
	records := []discover.Record{open(record("codex", "a", 1))}
	s := watches(t, discover.SessionFilter{}, []discover.Claim{presence(7), exact("a", 7)}, records...)
	s.sees(0, "a:running")
	s.claims, s.records = []discover.Claim{presence(7)}, nil
	for range 4 {
		s.sees(idleInterval, "a:unknown")
	}
	s.claims, s.records = []discover.Claim{presence(7), exact("a", 7)}, records
	s.sees(idleInterval, "a:running")
}

// By /clear a process turns from one session to another: the first has stopped at once.
func TestFilterWatcherWhenAProcessSwitchesSessions(t *testing.T) {
	s := watches(t, discover.SessionFilter{}, []discover.Claim{presence(7), exact("a", 7)}, record("codex", "a", 1), record("codex", "b", 2))
	s.sees(0, "a:idle")
	s.claims = []discover.Claim{presence(7), exact("b", 7)}
	s.sees(time.Second, "b:idle a:stopped")
	s.sees(time.Second, "b:idle")
	s.claims = []discover.Claim{presence(7), exact("a", 7)} // and back, by /resume
	s.sees(time.Second, "a:idle b:stopped")
}

func TestFilterWatcherWhenASessionIDBecomesKnown(t *testing.T) {
	s := watches(t, discover.SessionFilter{}, []discover.Claim{presence(7)}, record("codex", "a", 1), record("codex", "b", 2))
	s.sees(0, ":running")
	s.claims = []discover.Claim{presence(7), exact("a", 7)}
	s.sees(time.Second, "a:idle")
	s.claims = []discover.Claim{presence(8), presence(7), exact("a", 7)}
	s.sees(time.Second, "a:idle :running")
	s.claims = []discover.Claim{presence(8), exact("a", 8), exact("b", 8), presence(7)} // a server's, of several at once
	s.sees(time.Second, "b:idle a:idle :running")
}

func TestFilterWatcherIncludesStoppedSessions(t *testing.T) {
	s := watches(t, discover.SessionFilter{IncludeStopped: true, Since: at(2)}, []discover.Claim{exact("a", 7)}, record("codex", "a", 4), record("codex", "b", 3), record("codex", "c", 1))
	s.sees(0, "a:idle b:stopped")
	s.claims, s.processes = []discover.Claim{exact("b", 8)}, s.processes[1:]
	s.sees(time.Second, "b:idle a:stopped")
	s.sees(time.Second, "b:idle a:stopped")
	s.claims, s.processes = nil, nil
	s.sees(idleInterval, "a:stopped b:stopped")
	s.records = s.records[:1] // the person has deleted it
	s.sees(idleInterval, "a:stopped")
}

// counted is a store that counts how often it is asked for everything, and how often for single sessions.
type counted struct {
	*stage
	whole, single int
}

func (c *counted) Entries(ctx context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	if len(q.Refs) > 0 {
		c.single++
	} else {
		c.whole++
	}
	return c.stage.Entries(ctx, homes, q)
}

// passes watches a made-up machine for so long, with one session in process 7 whose file is "/f".
func passes(t *testing.T, m *made, span time.Duration) (c *counted, events int) {
	c = &counted{stage: newStage(t, []discover.Claim{exact("a", 7)}, record("codex", "a", 1))}
	w := worldOf(func() *proc.Table {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.paid += m.price
		m.snapshots = append(m.snapshots, time.Since(m.start))
		return proc.NewFakeTable(c.processes...)
	}, c)
	ctx, stop := context.WithTimeout(t.Context(), span)
	defer stop()
	watcher := newFilterWatcher(w, discover.SessionFilter{}, m.system())
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

// A machine on which nothing happens costs a snapshot each idleInterval, of which each asks the stores for what is new but once, and
// what that is does not depend on how much is stored.
func TestPollingAQuietMachineIsCheap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const minutes = 10
		m := newMade(time.Millisecond)
		c, events := passes(t, m, minutes*time.Minute)
		const most = minutes*int(time.Minute/idleInterval) + 4 // the first one and its echoes
		if n := len(m.snapshots); n > most || n < most-10 || c.whole > n || c.single > n {
			t.Errorf("%d snapshots, want %d; all is asked for %d times, the session %d times", n, most, c.whole, c.single)
		}
		if events != 2 {
			t.Errorf("%d events", events)
		}
	})
}

// Whatever a snapshot costs and however much happens, a change is read within a second.
func TestPollingABusyMachineIsPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMade(200 * time.Millisecond)
		const span = time.Minute
		go func() {
			for time.Since(m.start) < span {
				m.write("/p/a")
				<-time.After(30 * time.Millisecond)
			}
		}()
		passes(t, m, span)
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

// A process that may be an agent has begun: that triggers a snapshot at once; any other process does not.
func TestPollNoticesNewAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMade(time.Millisecond)
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
		w := worldOf(func() *proc.Table {
			m.snapshots = append(m.snapshots, time.Since(m.start))
			return proc.NewFakeTable()
		}, choosy{memory{agent: "codex"}})
		ctx, stop := context.WithTimeout(t.Context(), 35*time.Second)
		defer stop()
		watcher := newFilterWatcher(w, discover.SessionFilter{}, sys)
		defer watcher.Close()
		for err := error(nil); err == nil; { // it ends with the context
			_, err = watcher.Next(ctx)
		}
		if m.between(23*time.Second, 23*time.Second+2*pollInterval) > 0 || m.between(33*time.Second, 33*time.Second+pollInterval) != 1 {
			t.Errorf("%v", m.snapshots)
		}
	})
}

// choosy is an agent that knows its program.
type choosy struct{ memory }

func (choosy) WatchPaths(context.Context, discover.Session) []string { return nil }
func (choosy) MatchesBinary(exe string) bool                         { return exe == "/bin/codex" }
