package watch

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/discover"
	"agentctl/proc"
)

// hears looks after so long, and returns the events.
func (s *watched) hears(after time.Duration) []Event {
	s.t.Helper()
	s.snapshotAfter(after)
	return s.watcher.Events()
}

// tells looks after so long, and expects these events.
func (s *watched) tells(after time.Duration, want string) {
	s.t.Helper()
	var got []string
	for _, e := range s.hears(after) {
		got = append(got, fmt.Sprintf("%s:%s", strings.TrimPrefix(string(e.Type), "session."), e.Session.ID))
	}
	if strings.Join(got, " ") != want {
		s.t.Errorf("%q, want %q", got, want)
	}
}

func TestEventsOfASessionsLife(t *testing.T) {
	s := watches(t, discover.SessionFilter{}, []discover.Claim{presence(7)})
	s.processes = nil
	s.tells(0, "")
	s.processes = []proc.FakeProcess{fact(7, "now", 'S')}
	s.tells(time.Second, "")
	s.claims, s.records = append(s.claims, exact("a", 7)), []discover.Record{open(s.now(record("codex", "a", 0)))}
	s.tells(pollInterval, "started:a running:a")
	s.tells(time.Second, "")
	s.records[0].Turn.State = discover.TurnDone
	s.tells(time.Second, "idle:a")
	s.records[0].Turn = discover.Turn{State: discover.TurnWaiting, WaitingFor: "question"}
	s.tells(time.Second, "waiting:a")
	s.records[0].Turn = discover.Turn{State: discover.TurnFailed, Error: "no model"}
	s.tells(time.Second, "error:a")
	s.processes = nil
	s.tells(time.Second, "stopped:a")
	s.tells(idleInterval, "")
	s.processes, s.claims = []proc.FakeProcess{fact(8, "now", 'S')}, []discover.Claim{exact("a", 8)} // resumed
	s.tells(time.Second, "started:a error:a")
}

// A session that the filter does not take is not told of when it is resumed, either.
func TestEventsOfOtherDirectories(t *testing.T) {
	far, near := record("codex", "far", 0), record("codex", "near", 0)
	far.Dir, near.Dir = "/far", "/near"
	sel := discover.SessionFilter{Condition: func(s discover.Session) bool { return s.Dir == "/near" }}
	s := watches(t, sel, []discover.Claim{exact("far", 7), exact("near", 8)}, far, near)
	s.processes = []proc.FakeProcess{fact(7, "now", 'S'), fact(8, "now", 'S')}
	s.tells(0, "started:near idle:near")
	for _, pid := range []int{9, 11} {
		s.processes = nil
		s.tells(time.Second, "stopped:near")
		s.processes = []proc.FakeProcess{fact(pid, "now", 'S'), fact(pid+1, "now", 'S')}
		s.claims = []discover.Claim{exact("far", pid), exact("near", pid+1)}
		s.tells(time.Second, "started:near idle:near")
	}
}

// A turn that begins and ends between two looks is told by its end.
func TestEventsOfSessionsThatWereNeverSeenLive(t *testing.T) {
	a := record("codex", "a", 0)
	a.Turn.Began = at(1)
	s := watches(t, discover.SessionFilter{}, []discover.Claim{exact("a", 7)}, a)
	s.tells(0, "started:a idle:a")
	s.records[0].Turn.Began = s.clock.Add(time.Second)
	s.tells(2*time.Second, "idle:a")
	failed := s.now(record("codex", "b", 0))
	failed.Turn = discover.Turn{State: discover.TurnFailed, Error: "no model"}
	s.records = append(s.records, failed)
	s.tells(idleInterval, "")
	s.tells(claimDelay, "started:b error:b stopped:b")
	s.claims, s.processes = []discover.Claim{exact("a", 8)}, s.processes[1:] // in another process, without a pause
	s.tells(time.Second, "started:a idle:a")
}

// A session that has stopped may have been run again unseen though its storage did not tell when its turn before began.
func TestEventsOfATurnAfterOneWithUnknownStart(t *testing.T) {
	s := watches(t, discover.SessionFilter{}, nil, record("codex", "a", 0))
	s.tells(0, "")
	s.clock = s.clock.Add(time.Second)
	s.records[0] = s.now(s.records[0])
	s.tells(idleInterval, "started:a stopped:a")
	s.tells(idleInterval, "")
	s.records[0].Turn.Began = s.records[0].Updated // it is told now of the same turn
	s.tells(idleInterval, "")
	s.records[0] = s.now(s.records[0])
	s.records[0].Turn.Began = s.clock
	s.tells(idleInterval, "started:a stopped:a")
	s.tells(idleInterval, "")
}

// A session that has stopped was run again unseen, and the beginnings of its turns stand so far back that nobody reads them
// but to tell this: a title that is written late is no turn.
func TestEventsOfALongTurnAfterALongTurn(t *testing.T) {
	s := watches(t, discover.SessionFilter{}, []discover.Claim{exact("a", 7)}, record("codex", "a", 0))
	s.deep = map[string]time.Time{"a": s.clock}
	s.records[0] = s.now(s.records[0])
	s.tells(0, "started:a idle:a")
	s.processes = s.processes[1:]
	s.tells(time.Second, "stopped:a")
	s.clock = s.clock.Add(time.Second)
	s.records[0] = s.now(s.records[0])
	s.tells(idleInterval, "")
	s.clock = s.clock.Add(time.Second)
	s.deep["a"], s.records[0] = s.clock, s.now(s.records[0])
	s.tells(idleInterval, "started:a stopped:a")
	s.tells(idleInterval, "")
}

func TestEventsOfAProcessWithoutASessionID(t *testing.T) {
	s := watches(t, discover.SessionFilter{}, nil)
	s.tells(0, "")
	s.claims = []discover.Claim{presence(7)}
	s.tells(time.Second, "")
	s.tells(nameDelay, "started: running:")
	s.claims = append(s.claims, exact("a", 7))
	s.records = []discover.Record{open(s.now(record("codex", "a", 0)))}
	s.tells(time.Second, "running:a")
	s.claims = []discover.Claim{presence(8)}
	s.processes = s.processes[1:]
	s.tells(time.Second, "stopped:a")
	s.tells(nameDelay, "started: running:")
	s.processes = nil
	s.tells(time.Second, "stopped:")
}

// A thread is shown by its process before its first record says that it is a sub-agent's.
func TestEventsOfANewSessionInASharedProcess(t *testing.T) {
	a := open(record("codex", "a", 1))
	a.Created = at(1)
	s := watches(t, discover.SessionFilter{}, []discover.Claim{exact("a", 7)}, a)
	s.tells(0, "started:a running:a")
	empty := open(s.now(record("codex", "b", 0)))
	empty.Created = s.clock // as its ID tells
	s.records = append(s.records, empty)
	s.claims = append(s.claims, exact("b", 7), exact("c", 7), exact("alone", 8))
	s.tells(pollInterval, "started:alone running:alone")
	s.records[1].Parent = "a"
	s.tells(pollInterval, "")
	s.tells(parentDelay, "started:c running:c")
	s.processes = s.processes[1:]
	s.tells(time.Second, "stopped:a stopped:c")
}

// history is a made-up machine over time: what is so, and what of it can be seen.
type history struct {
	*watched
	runs    map[int]string // the session of each process; "": none yet
	next    int            // of pids and ids
	away    bool           // the store
	torn    map[int]bool   // processes that do not show their session, but for no more than one look in a row
	mended  map[int]bool   // that did not at the last look, nor any while the store is away
	touched map[string]bool
	replay  map[string]string
	last    map[string]EventType
	live    map[string]bool // sessions that live since they could be seen
}

func newHistory(t *testing.T) *history {
	h := &history{
		watched: watches(t, discover.SessionFilter{}, nil), runs: map[int]string{}, next: 100, torn: map[int]bool{},
		touched: map[string]bool{}, replay: map[string]string{}, last: map[string]EventType{}, live: map[string]bool{},
	}
	h.processes = nil
	return h
}

// show makes what is so what can be seen.
func (h *history) show(stored []discover.Record) {
	h.processes, h.claims, h.records = nil, nil, stored
	if h.away {
		h.records = nil
	}
	for _, pid := range slices.Sorted(maps.Keys(h.runs)) {
		h.processes = append(h.processes, fact(pid, "now", 'S'))
		h.claims = append(h.claims, presence(pid))
		if id := h.runs[pid]; id != "" && !h.torn[pid] && !h.away {
			h.claims = append(h.claims, exact(id, pid))
		}
	}
}

// hear takes events to the replay, and refuses those that are doubled or false.
func (h *history) hear(t *rapid.T, events []Event) {
	for _, e := range events {
		key := e.Session.ID
		pid := fmt.Sprint("pid:", pidOf(e.Session))
		if key == "" {
			key = pid
		} else if pidOf(e.Session) != 0 {
			delete(h.replay, pid)
		}
		state, again := row(e.Session), e.Type == h.last[key]
		switch {
		case e.Type == SessionStopped && h.live[e.Session.ID]:
			t.Fatalf("%s lives", key)
		case again && (e.Type == SessionStarted || e.Type != SessionIdle && state == h.replay[key]):
			t.Fatalf("%s twice: %s", key, e.Type)
		}
		h.replay[key], h.last[key] = state, e.Type
		if e.Type == SessionStopped && e.Session.ID == "" {
			delete(h.replay, key)
			delete(h.last, key)
		}
	}
}

func pidOf(s discover.Session) int {
	if len(s.Processes) == 0 {
		return 0
	}
	return s.Processes[0].ID.PID
}

func row(s discover.Session) string { return fmt.Sprint(s.Status, s.Outcome, pidOf(s)) }

// step changes the machine.
func (h *history) step(t *rapid.T, stored []discover.Record) []discover.Record {
	pids := slices.Sorted(maps.Keys(h.runs))
	some := func() int { return rapid.SampledFrom(pids).Draw(t, "process") }
	write := func(id string, state discover.TurnState) {
		h.touched[id] = true
		r := h.now(record("codex", id, 0))
		r.Turn.State = state
		if i := slices.IndexFunc(stored, func(o discover.Record) bool { return o.ID == id }); i >= 0 {
			stored = slices.Clone(stored)
			stored[i] = r
		} else {
			stored = append(slices.Clone(stored), r)
		}
	}
	turn := func() discover.TurnState {
		return rapid.SampledFrom([]discover.TurnState{discover.TurnOpen, discover.TurnDone, discover.TurnWaiting, discover.TurnFailed, discover.TurnInterrupted}).Draw(t, "turn")
	}
	fresh := func() string { h.next++; return fmt.Sprint("s", h.next) }
	what := rapid.SampledFrom([]string{"start", "name", "turn", "die", "clear", "resume", "unseen", "away", "torn", "nothing"}).Draw(t, "what")
	if len(pids) == 0 && slices.Contains([]string{"name", "turn", "die", "clear", "torn"}, what) {
		what = "start"
	}
	switch what {
	case "start":
		h.next++
		h.runs[h.next] = ""
	case "name", "clear":
		if pid := some(); what == "clear" || h.runs[pid] == "" {
			delete(h.live, h.runs[pid])
			h.runs[pid] = fresh()
			write(h.runs[pid], turn())
		}
	case "turn":
		if id := h.runs[some()]; id != "" {
			write(id, turn())
		}
	case "die":
		pid := some()
		delete(h.live, h.runs[pid])
		delete(h.runs, pid)
	case "resume":
		running := slices.Collect(maps.Values(h.runs))
		for _, r := range stored {
			if !slices.Contains(running, r.ID) {
				h.next++
				h.runs[h.next] = r.ID
				write(r.ID, discover.TurnOpen)
				break
			}
		}
	case "unseen":
		write(fresh(), turn())
	case "away":
		h.away = !h.away
	case "torn":
		if pid := some(); !h.mended[pid] {
			h.torn = map[int]bool{pid: true}
		}
	}
	return stored
}

// However a machine's history goes, whoever keeps the last event of each session knows what list says; no session that
// lives is told to have stopped, and nothing is told twice.
func TestAReplayOfTheEventsIsWhatListSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t)
		var stored []discover.Record
		look := func(after time.Duration) {
			h.show(stored)
			h.hear(rt, h.hears(after))
			h.torn, h.mended = map[int]bool{}, h.torn
			for pid, id := range h.runs {
				h.mended[pid] = h.mended[pid] || h.away
				h.live[id] = id != "" && (h.live[id] || !h.away)
			}
		}
		look(0)
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			stored = h.step(rt, stored)
			if rapid.IntRange(0, 2).Draw(rt, "look") > 0 {
				look(rapid.SampledFrom([]time.Duration{pollInterval, maxDelay, time.Second, idleInterval}).Draw(rt, "after"))
			}
		}
		h.away = false
		for range 3 {
			look(idleInterval)
		}
		r, err := h.world().List(t.Context(), discover.SessionFilter{IncludeStopped: true})
		if err != nil {
			rt.Fatal(err)
		}
		want := map[string]string{}
		for _, s := range r.Sessions {
			if key := s.ID; key != "" && h.touched[key] {
				want[key] = row(s)
			} else if key == "" {
				want[fmt.Sprint("pid:", pidOf(s))] = row(s)
			}
		}
		if !maps.Equal(h.replay, want) {
			rt.Fatalf("replayed %v\nlist says %v", h.replay, want)
		}
	})
}
