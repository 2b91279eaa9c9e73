package discover

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"agentctl/proc"
)

// surveyed surveys a stage by a clock that stands still but when it is told to go on.
type surveyed struct {
	*stage
	survey *survey
	clock  time.Time
}

func surveys(t *testing.T, sel Select, claims []Claim, records ...Record) *surveyed {
	s := &surveyed{stage: newStage(t, claims, records...), clock: at(1000)}
	senses := newMade(0).senses()
	senses.now = func() time.Time { return s.clock }
	s.survey = newSurvey(s.world(), sel, senses)
	return s
}

func presence(pid int) Claim { return Claim{Agent: Codex, Process: proc.ID{PID: pid, Birth: "now"}} }

// now is a record that is written now.
func (s *surveyed) now(r Record) Record { r.Updated = s.clock; return r }

// looks looks after so long.
func (s *surveyed) looks(after time.Duration) Result {
	s.t.Helper()
	s.clock = s.clock.Add(after)
	r, _, err := s.survey.look(s.t.Context())
	if err != nil {
		s.t.Error(err)
	}
	return s.survey.shown(r)
}

// sees looks after so long, and expects these rows.
func (s *surveyed) sees(after time.Duration, want string) {
	s.t.Helper()
	if rows := ids(s.looks(after).Sessions); rows != want {
		s.t.Errorf("%q; want %q", rows, want)
	}
}

func TestASurveyShowsWhatLivesAndWhatHasStoppedOnce(t *testing.T) {
	s := surveys(t, Select{}, []Claim{exact("a", 7)}, record(Codex, "a", 1), record(Codex, "old", 1))
	s.sees(0, "a:idle")
	s.claims = append(s.claims, exact("b", 8))
	s.records = append(s.records, s.now(record(Codex, "b", 0)))
	s.sees(time.Second, "b:idle a:idle")
	s.processes = s.processes[1:]
	s.sees(time.Second, "b:idle a:stopped")
	s.sees(time.Second, "b:idle")
	s.sees(round, "b:idle")
}

// What begins and ends between two looks is told once, as soon as the storage shows it.
func TestASurveyFindsWhatNobodySaw(t *testing.T) {
	s := surveys(t, Select{}, nil, record(Codex, "old", 1))
	s.sees(0, "")
	s.clock = s.clock.Add(time.Second)
	s.records = append(s.records, s.now(record(Codex, "b", 0)))
	s.sees(0, "")
	s.sees(round, "b:stopped")
	s.sees(round, "")
	s.records[1].Updated = s.records[1].Updated.Add(time.Millisecond) // written late, and nothing new
	s.sees(round, "")
	again := open(s.now(s.records[0]))
	s.records[0] = again // run again, and cut
	s.sees(round, "old:stopped")
}

// An agent whose session was not known has ended: the storage is read at the next look, not at the next round.
func TestASurveyReadsTheStorageWhenAnAgentHasEnded(t *testing.T) {
	s := surveys(t, Select{}, nil)
	s.sees(0, "")
	s.claims = []Claim{presence(7)}
	s.sees(time.Second, ":running")
	s.records, s.processes = []Record{s.now(record(Codex, "a", 0))}, nil
	s.sees(time.Second, ":stopped")
	s.sees(glance, "a:stopped")
	s.sees(glance, "")
}

// S15: what cannot be read for a moment has not stopped.
func TestASurveyDoubtsAnEndWhoseProcessLives(t *testing.T) {
	s := surveys(t, Select{}, []Claim{presence(7), exact("a", 7)}, open(record(Codex, "a", 1)))
	s.sees(0, "a:running")
	s.claims = []Claim{presence(7)}
	s.sees(time.Second, "a:running")
	s.claims = []Claim{presence(7), exact("a", 7)}
	s.sees(time.Second, "a:running")
	s.claims = []Claim{presence(7)} // it has ended indeed
	s.sees(time.Second, "a:running")
	s.sees(stopDebouncePeriod, ":running a:stopped")
	s.sees(time.Second, ":running")
}

// What a server begins is in the storage before the server shows that it runs it.
func TestASurveyedSessionWhoseProcessShowsLate(t *testing.T) {
	s := surveys(t, Select{}, []Claim{presence(7), exact("a", 7)}, record(Codex, "a", 1))
	s.sees(0, "a:idle")
	s.records = append(s.records, s.now(open(record(Codex, "b", 1))), s.now(record(Codex, "c", 1)))
	s.sees(round, "a:idle")
	s.sees(lag, "a:idle c:stopped") // whose turn has ended
	s.claims = append(s.claims, exact("b", 7))
	s.sees(lag, "b:running a:idle")
	s.records = append(s.records, s.now(open(record(Codex, "d", 1))))
	s.sees(round, "b:running a:idle")
	s.sees(round, "b:running a:idle d:stopped")
}

// The whole store is away: nobody knows, but nothing has stopped.
func TestASurveyedStoreIsAway(t *testing.T) {
	records := []Record{open(record(Codex, "a", 1))}
	s := surveys(t, Select{}, []Claim{presence(7), exact("a", 7)}, records...)
	s.sees(0, "a:running")
	s.claims, s.records = []Claim{presence(7)}, nil
	for range 4 {
		s.sees(round, "a:unknown")
	}
	s.claims, s.records = []Claim{presence(7), exact("a", 7)}, records
	s.sees(round, "a:running")
}

// By /clear a process turns from one session to another: the first has stopped at once.
func TestASurveyedProcessTurnsToAnotherSession(t *testing.T) {
	s := surveys(t, Select{}, []Claim{presence(7), exact("a", 7)}, record(Codex, "a", 1), record(Codex, "b", 2))
	s.sees(0, "a:idle")
	s.claims = []Claim{presence(7), exact("b", 7)}
	s.sees(time.Second, "b:idle a:stopped")
	s.sees(time.Second, "b:idle")
	s.claims = []Claim{presence(7), exact("a", 7)} // and back, by /resume
	s.sees(time.Second, "a:idle b:stopped")
}

func TestASurveyedProcessGetsItsName(t *testing.T) {
	s := surveys(t, Select{}, []Claim{presence(7)}, record(Codex, "a", 1), record(Codex, "b", 2))
	s.sees(0, ":running")
	s.claims = []Claim{presence(7), exact("a", 7)}
	s.sees(time.Second, "a:idle")
	s.claims = []Claim{presence(8), presence(7), exact("a", 7)}
	s.sees(time.Second, "a:idle :running")
	s.claims = []Claim{presence(8), exact("a", 8), exact("b", 8), presence(7)} // a server's, of several at once
	s.sees(time.Second, "b:idle a:idle :running")
}

func TestASurveyOfAllShowsTheStoppedToo(t *testing.T) {
	s := surveys(t, Select{All: true, Since: at(2)}, []Claim{exact("a", 7)}, record(Codex, "a", 4), record(Codex, "b", 3), record(Codex, "c", 1))
	s.sees(0, "a:idle b:stopped")
	s.claims, s.processes = []Claim{exact("b", 8)}, s.processes[1:]
	s.sees(time.Second, "b:idle a:stopped")
	s.sees(time.Second, "b:idle a:stopped")
	s.claims, s.processes = nil, nil
	s.sees(round, "a:stopped b:stopped")
	s.records = s.records[:1] // the person has deleted it
	s.sees(round, "a:stopped")
}

func TestWatchEnds(t *testing.T) {
	s := newStage(t, []Claim{exact("a", 7)}, record(Codex, "a", 1))
	told := 0
	err := s.world().Watch(t.Context(), Select{}, func(r Result) (bool, error) { told += len(r.Sessions); return false, nil })
	if err != nil || told != 1 {
		t.Errorf("%v, told %d", err, told)
	}
	ctx, stop := context.WithCancel(t.Context())
	err = s.world().Watch(ctx, Select{Agents: []Agent{OpenCode}}, func(r Result) (bool, error) {
		stop()
		return !slices.ContainsFunc(r.Sessions, Session.Proven), nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// counted is a store that counts how often it is asked for everything, and how often for single sessions.
type counted struct {
	*stage
	whole, single int
}

func (c *counted) Entries(ctx context.Context, homes []Home, q Query) ([]Entry, error) {
	if len(q.Refs) > 0 {
		c.single++
	} else {
		c.whole++
	}
	return c.stage.Entries(ctx, homes, q)
}

// watched watches a made-up machine for so long, with one session in process 7 whose file is "/f".
func watched(t *testing.T, m *made, span time.Duration) (c *counted, events int) {
	c = &counted{stage: newStage(t, []Claim{exact("a", 7)}, record(Codex, "a", 1))}
	w := worldOf(func() *proc.Table {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.paid += m.price
		m.looks = append(m.looks, time.Since(m.start))
		return proc.Of(c.processes...)
	}, c)
	ctx, stop := context.WithTimeout(t.Context(), span)
	defer stop()
	s := newSurvey(w, Select{}, m.senses())
	err := s.watch.run(ctx, nil, s.look, func(Result) (bool, error) { events += len(s.events(false)); return true, nil })
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("it ended with %v", err)
	}
	return c, events
}

// A machine on which nothing happens costs a look each round, of which each asks the stores for what is new but once, and
// what that is does not depend on how much is stored.
func TestSurveyingAQuietMachineIsCheap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const minutes = 10
		m := newMade(time.Millisecond)
		c, events := watched(t, m, minutes*time.Minute)
		const most = minutes*int(time.Minute/round) + 4 // the first one and its echoes
		if n := len(m.looks); n > most || n < most-10 || c.whole > n || c.single > n {
			t.Errorf("%d looks, want %d; all is asked for %d times, the session %d times", n, most, c.whole, c.single)
		}
		if events != 2 {
			t.Errorf("%d events", events)
		}
	})
}

// However dear a look is and however much happens, what has changed is looked at within a second.
func TestSurveyingABusyMachineIsPrompt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMade(200 * time.Millisecond)
		const span = time.Minute
		go func() {
			for time.Since(m.start) < span {
				m.write("/p/a")
				<-time.After(30 * time.Millisecond)
			}
		}()
		watched(t, m, span)
		last := time.Duration(0)
		for _, at := range m.looks {
			if at-last > time.Second {
				t.Errorf("no look between %s and %s", last, at)
			}
			last = at
		}
		if n := len(m.looks); time.Duration(n) > span/patience+1 {
			t.Errorf("%d looks", n)
		}
		synctest.Wait()
		<-time.After(30 * time.Millisecond) // the writer has ended, too
	})
}

// A process that may be an agent has begun: that is worth a look at once; of any other it is not.
func TestSurveyingNoticesAgents(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMade(time.Millisecond)
		came := map[time.Duration]string{23 * time.Second: "/bin/other", 33 * time.Second: "/bin/codex"}
		senses := m.senses()
		senses.came = func() (exes []string, err error) {
			for at, exe := range came {
				if time.Since(m.start) >= at {
					exes = append(exes, exe)
					delete(came, at)
				}
			}
			return exes, nil
		}
		w := worldOf(func() *proc.Table {
			m.looks = append(m.looks, time.Since(m.start))
			return proc.Of()
		}, choosy{memory{agent: Codex}})
		ctx, stop := context.WithTimeout(t.Context(), 35*time.Second)
		defer stop()
		s := newSurvey(w, Select{}, senses)
		_ = s.watch.run(ctx, nil, s.look, func(Result) (bool, error) { return true, nil }) // it ends with the context
		if m.between(23*time.Second, 23*time.Second+2*glance) > 0 || m.between(33*time.Second, 33*time.Second+glance) != 1 {
			t.Errorf("%v", m.looks)
		}
	})
}

// choosy is an agent that knows its program.
type choosy struct{ memory }

func (choosy) Watch(context.Context, Session) []string { return nil }
func (choosy) MayRun(exe string) bool                  { return exe == "/bin/codex" }
