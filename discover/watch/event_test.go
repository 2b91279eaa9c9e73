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
	"agentctl/tests/proctest"
	"agentctl/tests/stub"
)

// eventsAfter takes a snapshot after this time, and returns its events.
func (s *filterTest) eventsAfter(after time.Duration) []Event {
	s.t.Helper()
	s.snapshotAfter(after)
	return s.watcher.Events()
}

// expectEvents takes a snapshot after this time, and expects these events.
func (s *filterTest) expectEvents(after time.Duration, want string) {
	s.t.Helper()
	var got []string
	for _, e := range s.eventsAfter(after) {
		got = append(got, fmt.Sprintf("%s:%s", strings.TrimPrefix(string(e.Type), "session."), e.Session.ID))
	}
	if strings.Join(got, " ") != want {
		s.t.Errorf("%q, want %q", got, want)
	}
}

func TestEventsOfASessionsLife(t *testing.T) {
	s := newFilterTest(t, discover.SessionFilter{}, []discover.Claim{presence(7)})
	s.processes = nil
	s.expectEvents(0, "")
	s.processes = []proctest.Process{stub.Process(7, "now", 'S')}
	s.expectEvents(time.Second, "")
	s.ClaimList, s.Records = append(s.ClaimList, stub.ExactClaim("a", 7)), []discover.Record{withOpenTurn(s.now(stub.Record("codex", "a", 0)))}
	s.expectEvents(pollInterval, "started:a running:a")
	s.expectEvents(time.Second, "")
	s.Records[0].Turn.State = discover.TurnDone
	s.expectEvents(time.Second, "idle:a")
	s.Records[0].Turn = discover.Turn{State: discover.TurnWaiting, WaitingFor: "question"}
	s.expectEvents(time.Second, "waiting:a")
	s.Records[0].Turn = discover.Turn{State: discover.TurnFailed, Error: "no model"}
	s.expectEvents(time.Second, "error:a")
	s.processes = nil
	s.expectEvents(time.Second, "stopped:a")
	s.expectEvents(idleInterval, "")
	s.processes, s.ClaimList = []proctest.Process{stub.Process(8, "now", 'S')}, []discover.Claim{stub.ExactClaim("a", 8)} // resumed
	s.expectEvents(time.Second, "started:a error:a")
}

// A session that waits has another event once it is known for what, and when it waits for something else; no other one, though what it
// waits for is out of sight meanwhile.
func TestEventsOfASessionThatWaits(t *testing.T) {
	s := newFilterTest(t, discover.SessionFilter{}, []discover.Claim{stub.ExactClaim("a", 7)}, stub.Record("codex", "a", 0))
	s.expectEvents(0, "started:a idle:a")
	for _, step := range []struct {
		on   *discover.WaitingOn
		want string
	}{
		{nil, "waiting:a"},
		{&discover.WaitingOn{Tool: "Bash", Brief: "one"}, "waiting:a"},
		{&discover.WaitingOn{Tool: "Bash", Brief: "one"}, ""},
		{nil, ""},
		{&discover.WaitingOn{Tool: "Bash", Brief: "one"}, ""},
		{&discover.WaitingOn{Tool: "Bash", Brief: "two"}, "waiting:a"},
		{&discover.WaitingOn{ID: "2", Tool: "Bash", Brief: "two"}, "waiting:a"},
	} {
		s.Records[0].Turn = discover.Turn{State: discover.TurnWaiting, WaitingFor: "permission", WaitingOn: step.on}
		s.expectEvents(time.Second, step.want)
	}
	s.Records[0].Turn = discover.Turn{State: discover.TurnDone}
	s.expectEvents(time.Second, "idle:a")
}

// A session that the filter excludes has no events, also when it is resumed.
func TestEventsOfOtherDirectories(t *testing.T) {
	far, near := stub.Record("codex", "far", 0), stub.Record("codex", "near", 0)
	far.Dir, near.Dir = "/far", "/near"
	sel := discover.SessionFilter{Condition: func(s discover.Session) bool { return s.Dir == "/near" }}
	s := newFilterTest(t, sel, []discover.Claim{stub.ExactClaim("far", 7), stub.ExactClaim("near", 8)}, far, near)
	s.processes = []proctest.Process{stub.Process(7, "now", 'S'), stub.Process(8, "now", 'S')}
	s.expectEvents(0, "started:near idle:near")
	for _, pid := range []int{9, 11} {
		s.processes = nil
		s.expectEvents(time.Second, "stopped:near")
		s.processes = []proctest.Process{stub.Process(pid, "now", 'S'), stub.Process(pid+1, "now", 'S')}
		s.ClaimList = []discover.Claim{stub.ExactClaim("far", pid), stub.ExactClaim("near", pid+1)}
		s.expectEvents(time.Second, "started:near idle:near")
	}
}

// Of a turn that begins and ends between two snapshots, the end is an event.
func TestEventsOfSessionsThatWereNeverSeenLive(t *testing.T) {
	a := stub.Record("codex", "a", 0)
	a.Turn.Began = stub.At(1)
	s := newFilterTest(t, discover.SessionFilter{}, []discover.Claim{stub.ExactClaim("a", 7)}, a)
	s.expectEvents(0, "started:a idle:a")
	s.Records[0].Turn.Began = s.clock.Add(time.Second)
	s.expectEvents(2*time.Second, "idle:a")
	failed := s.now(stub.Record("codex", "b", 0))
	failed.Turn = discover.Turn{State: discover.TurnFailed, Error: "no model"}
	s.Records = append(s.Records, failed)
	s.expectEvents(idleInterval, "")
	s.expectEvents(claimDelay, "started:b error:b stopped:b")
	s.ClaimList, s.processes = []discover.Claim{stub.ExactClaim("a", 8)}, s.processes[1:] // in another process, without a pause
	s.expectEvents(time.Second, "started:a idle:a")
}

// A stopped session that was run again between two snapshots is reported, although the start of its turn before was unknown.
func TestEventsOfATurnAfterOneWithUnknownStart(t *testing.T) {
	s := newFilterTest(t, discover.SessionFilter{}, nil, stub.Record("codex", "a", 0))
	s.expectEvents(0, "")
	s.clock = s.clock.Add(time.Second)
	s.Records[0] = s.now(s.Records[0])
	s.expectEvents(idleInterval, "started:a stopped:a")
	s.expectEvents(idleInterval, "")
	s.Records[0].Turn.Began = s.Records[0].Updated // now it is stored, for the same turn
	s.expectEvents(idleInterval, "")
	s.Records[0] = s.now(s.Records[0])
	s.Records[0].Turn.Began = s.clock
	s.expectEvents(idleInterval, "started:a stopped:a")
	s.expectEvents(idleInterval, "")
}

func TestEventsOfAProcessWithoutASessionID(t *testing.T) {
	s := newFilterTest(t, discover.SessionFilter{}, nil)
	s.expectEvents(0, "")
	s.ClaimList = []discover.Claim{presence(7)}
	s.expectEvents(time.Second, "")
	s.expectEvents(nameDelay, "started: running:")
	s.ClaimList = append(s.ClaimList, stub.ExactClaim("a", 7))
	s.Records = []discover.Record{withOpenTurn(s.now(stub.Record("codex", "a", 0)))}
	s.expectEvents(time.Second, "running:a")
	s.ClaimList = []discover.Claim{presence(8)}
	s.processes = s.processes[1:]
	s.expectEvents(time.Second, "stopped:a")
	s.expectEvents(nameDelay, "started: running:")
	s.processes = nil
	s.expectEvents(time.Second, "stopped:")
}

// A thread is shown by its process before its first record says that it is a sub-agent's.
func TestEventsOfANewSessionInASharedProcess(t *testing.T) {
	a := withOpenTurn(stub.Record("codex", "a", 1))
	a.Created = stub.At(1)
	s := newFilterTest(t, discover.SessionFilter{}, []discover.Claim{stub.ExactClaim("a", 7)}, a)
	s.expectEvents(0, "started:a running:a")
	empty := withOpenTurn(s.now(stub.Record("codex", "b", 0)))
	empty.Created = s.clock // the time is in its ID
	s.Records = append(s.Records, empty)
	s.ClaimList = append(s.ClaimList, stub.ExactClaim("b", 7), stub.ExactClaim("c", 7), stub.ExactClaim("alone", 8))
	s.expectEvents(pollInterval, "started:alone running:alone")
	s.Records[1].Parent = "a"
	s.expectEvents(pollInterval, "")
	s.expectEvents(parentDelay, "started:c running:c")
	s.processes = s.processes[1:]
	s.expectEvents(time.Second, "stopped:a stopped:c")
}

// history is the state of a machine over time, how much of it can be read, and the events that were reported.
type history struct {
	*filterTest
	runs          map[int]string // the session of each process; "": none yet
	next          int            // of pids and ids
	storeMissing  bool           // the store
	unreadable    map[int]bool   // processes whose session cannot be read, for at most one snapshot in a row
	wasUnreadable map[int]bool   // unreadable at the last snapshot, or while the store is missing
	touched       map[string]bool
	replayed      map[string]string
	last          map[string]EventType
	live          map[string]bool // sessions that live since they could be seen
}

func newHistory(t *testing.T) *history {
	h := &history{
		filterTest: newFilterTest(t, discover.SessionFilter{}, nil), runs: map[int]string{}, next: 100, unreadable: map[int]bool{},
		touched: map[string]bool{}, replayed: map[string]string{}, last: map[string]EventType{}, live: map[string]bool{},
	}
	h.processes = nil
	return h
}

// show makes what is so what can be seen.
func (h *history) show(stored []discover.Record) {
	h.processes, h.ClaimList, h.Records = nil, nil, stored
	if h.storeMissing {
		h.Records = nil
	}
	for _, pid := range slices.Sorted(maps.Keys(h.runs)) {
		h.processes = append(h.processes, stub.Process(pid, "now", 'S'))
		h.ClaimList = append(h.ClaimList, presence(pid))
		if id := h.runs[pid]; id != "" && !h.unreadable[pid] && !h.storeMissing {
			h.ClaimList = append(h.ClaimList, stub.ExactClaim(id, pid))
		}
	}
}

// replayEvents replays events. It fails on events that are repeated or false.
func (h *history) replayEvents(t *rapid.T, events []Event) {
	for _, e := range events {
		key := e.Session.ID
		pid := fmt.Sprint("pid:", pidOf(e.Session))
		if key == "" {
			key = pid
		} else if pidOf(e.Session) != 0 {
			delete(h.replayed, pid)
		}
		state, again := row(e.Session), e.Type == h.last[key]
		switch {
		case e.Type == SessionStopped && h.live[e.Session.ID]:
			t.Fatalf("%s lives", key)
		case again && (e.Type == SessionStarted || e.Type != SessionIdle && state == h.replayed[key]):
			t.Fatalf("%s twice: %s", key, e.Type)
		}
		h.replayed[key], h.last[key] = state, e.Type
		if e.Type == SessionStopped && e.Session.ID == "" {
			delete(h.replayed, key)
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
		r := h.now(stub.Record("codex", id, 0))
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
	what := rapid.SampledFrom([]string{"start", "name", "turn", "exit", "clear", "resume", "run unseen", "store missing", "unreadable", "nothing"}).Draw(t, "what")
	if len(pids) == 0 && slices.Contains([]string{"name", "turn", "exit", "clear", "unreadable"}, what) {
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
	case "exit":
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
	case "run unseen":
		write(fresh(), turn())
	case "store missing":
		h.storeMissing = !h.storeMissing
	case "unreadable":
		if pid := some(); !h.wasUnreadable[pid] {
			h.unreadable = map[int]bool{pid: true}
		}
	}
	return stored
}

// However a machine's history goes, whoever keeps the last event of each session knows what list says; no session that
// lives has a stopped event, and no event is repeated.
func TestAReplayOfTheEventsIsWhatListSays(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		h := newHistory(t)
		var stored []discover.Record
		snapshot := func(after time.Duration) {
			h.show(stored)
			h.replayEvents(rt, h.eventsAfter(after))
			h.unreadable, h.wasUnreadable = map[int]bool{}, h.unreadable
			for pid, id := range h.runs {
				h.wasUnreadable[pid] = h.wasUnreadable[pid] || h.storeMissing
				h.live[id] = id != "" && (h.live[id] || !h.storeMissing)
			}
		}
		snapshot(0)
		for range rapid.IntRange(1, 30).Draw(rt, "steps") {
			stored = h.step(rt, stored)
			if rapid.IntRange(0, 2).Draw(rt, "snapshot") > 0 {
				snapshot(rapid.SampledFrom([]time.Duration{pollInterval, maxDelay, time.Second, idleInterval}).Draw(rt, "after"))
			}
		}
		h.storeMissing = false
		for range 3 {
			snapshot(idleInterval)
		}
		r, err := h.scanner().List(t.Context(), discover.SessionFilter{IncludeStopped: true})
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
		if !maps.Equal(h.replayed, want) {
			rt.Fatalf("replayed %v\nlist says %v", h.replayed, want)
		}
	})
}
