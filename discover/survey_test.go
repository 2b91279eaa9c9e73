package discover

import (
	"context"
	"errors"
	"slices"
	"testing"
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
	s.sees(doubt, ":running a:stopped")
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
