package discover

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/proc"
	"agentctl/tests/proctest"
)

// input is what is correlated: processes, what they show, and what is stored.
type input struct {
	processes []proctest.Process
	claims    []Claim
	records   []Record
}

func (in input) correlate() []Session {
	return Correlate(proctest.NewTable(in.processes...), in.claims, in.records)
}

func fakeProcess(pid int, birth string, state proc.State) proctest.Process {
	return proctest.Process{Process: proc.Process{
		ID: proc.ID{PID: pid, Birth: birth}, State: state, Parent: 1, Ticks: uint64(pid),
		Started: time.Unix(int64(pid), 0).UTC(),
	}}
}

var (
	testAgents = []Agent{ClaudeCode, Codex, OpenCode}
	testIDs    = []string{"a", "b", "c", "d"}
	testPaths  = []string{"/h/1", "/h/2"}
	testTurns  = []TurnState{TurnUnknown, TurnNone, TurnOpen, TurnWaiting, TurnDone, TurnInterrupted, TurnFailed}
)

// inputs draws small inputs whose IDs, paths and processes coincide often.
func inputs() *rapid.Generator[input] {
	return rapid.Custom(func(t *rapid.T) input {
		var in input
		for pid := range rapid.IntRange(0, 6).Draw(t, "processes") {
			state := rapid.SampledFrom([]proc.State{'S', 'R', 'T', 'Z'}).Draw(t, "state")
			in.processes = append(in.processes, fakeProcess(100+pid, "now", state))
		}
		for i := range rapid.IntRange(0, 6).Draw(t, "records") {
			in.records = append(in.records, Record{
				Agent: rapid.SampledFrom(testAgents).Draw(t, "agent"), ID: rapid.SampledFrom(testIDs).Draw(t, "id"),
				Path: rapid.SampledFrom(testPaths).Draw(t, "path"), Home: "/h", Dir: "/w",
				Updated: time.Unix(int64(1000+i), 0).UTC(),
				Turn:    Turn{State: rapid.SampledFrom(testTurns).Draw(t, "turn"), Error: "e"},
			})
		}
		for range rapid.IntRange(0, 10).Draw(t, "claims") {
			in.claims = append(in.claims, drawClaim(t))
		}
		return in
	})
}

// drawClaim draws a claim or a presence.
func drawClaim(t *rapid.T) Claim {
	c := Claim{
		Agent:   rapid.SampledFrom(testAgents).Draw(t, "agent"),
		Process: proc.ID{PID: rapid.IntRange(100, 107).Draw(t, "pid"), Birth: rapid.SampledFrom([]string{"now", "now", "now", "old"}).Draw(t, "birth")},
		Home:    "/h", Dir: "/w",
	}
	if rapid.IntRange(0, 3).Draw(t, "presence") == 0 {
		c.Shared, c.HideIfUnlinked = rapid.Bool().Draw(t, "shared"), rapid.Bool().Draw(t, "empty")
		return c
	}
	c.Session = rapid.SampledFrom(testIDs).Draw(t, "session")
	c.Path = rapid.SampledFrom(append(testPaths, "")).Draw(t, "place")
	c.Strength = rapid.SampledFrom([]Strength{Weak, Strong, Exact}).Draw(t, "strength")
	c.Kind = rapid.SampledFrom([]string{"x", "y"}).Draw(t, "kind")
	c.Additional, c.Alternative = rapid.Bool().Draw(t, "additional"), rapid.SampledFrom([]string{"", "", "r"}).Draw(t, "rival")
	if rapid.Bool().Draw(t, "shows") {
		c.Turn = &Turn{State: rapid.SampledFrom(testTurns).Draw(t, "shown")}
	}
	return c
}

// asText makes sessions comparable.
func asText(t interface{ Fatal(...any) }, sessions []Session) string {
	type row struct {
		Agent                   Agent
		ID, Path, Status, Error string
		Outcome                 Outcome
		PIDs                    []int
		Evidence                []string
	}
	var rows []row
	for _, s := range sessions {
		r := row{Agent: s.Agent, ID: s.ID, Path: s.Path, Status: string(s.Status), Error: s.Error, Outcome: s.Outcome}
		for _, p := range s.Processes {
			r.PIDs = append(r.PIDs, p.ID.PID)
		}
		for _, e := range s.Evidence {
			r.Evidence = append(r.Evidence, fmt.Sprint(e.Process, e.Session, e.Path, e.Strength, e.Kind, e.Accepted, e.Why))
		}
		rows = append(rows, r)
	}
	out, err := json.Marshal(rows)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// checkLaw checks a law on three thousand inputs.
func checkLaw(t *testing.T, law func(*rapid.T, input)) {
	t.Helper()
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		for range 30 {
			law(t, inputs().Draw(t, "input"))
		}
	})
}

func TestCorrelateIgnoresTheOrderOfItsInput(t *testing.T) {
	checkLaw(t, func(t *rapid.T, in input) {
		want := asText(t, in.correlate())
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		r.Shuffle(len(in.claims), func(i, j int) { in.claims[i], in.claims[j] = in.claims[j], in.claims[i] })
		r.Shuffle(len(in.records), func(i, j int) { in.records[i], in.records[j] = in.records[j], in.records[i] })
		if got := asText(t, in.correlate()); got != want {
			t.Fatalf("order matters:\n%s\n%s", want, got)
		}
	})
}

func TestCorrelateLinksOnlyLiveProcesses(t *testing.T) {
	checkLaw(t, func(t *rapid.T, in input) {
		table := proctest.NewTable(in.processes...)
		for _, s := range in.correlate() {
			for _, e := range s.Evidence {
				if _, ok := table.Find(e.Process); e.Accepted && !ok {
					t.Fatalf("accepted evidence of a dead or recycled process: %+v", e)
				}
			}
			if hasProcess := len(s.Processes) > 0; hasProcess == (s.Status == Stopped) && s.Status != Unknown {
				t.Fatalf("%s %s is %s with processes %v", s.Agent, s.ID, s.Status, s.Processes)
			}
			if (s.Status == Stopped) != (s.Outcome != "") {
				t.Fatalf("%s has outcome %q", s.Status, s.Outcome)
			}
		}
	})
}

func TestCorrelateOnAnEmptyTableStopsEverything(t *testing.T) {
	checkLaw(t, func(t *rapid.T, in input) {
		in.processes = nil
		keys := map[Key]bool{}
		for _, r := range in.records {
			keys[r.Key()] = true
		}
		got := in.correlate()
		if len(got) != len(keys) {
			t.Fatalf("%d sessions of %d records", len(got), len(keys))
		}
		for _, s := range got {
			if s.Status != Stopped {
				t.Fatalf("%s is %s on a machine where nothing runs", s.ID, s.Status)
			}
		}
	})
}

func TestCorrelateKeepsEveryRecordAndEveryLiveAgent(t *testing.T) {
	checkLaw(t, func(t *rapid.T, in input) {
		table := proctest.NewTable(in.processes...)
		records, owners := map[Key]int{}, map[agentProcess]int{}
		for _, s := range in.correlate() {
			records[s.Key()]++
			for _, p := range s.Processes {
				owners[agentProcess{s.Agent, p.ID}]++
			}
		}
		for _, r := range in.records {
			if records[r.Key()] != 1 {
				t.Fatalf("record %v makes %d rows", r.Key(), records[r.Key()])
			}
		}
		for _, c := range in.claims {
			_, live := table.Find(c.Process)
			who := agentProcess{c.Agent, c.Process}
			if c.Session == "" && live && !c.HideIfUnlinked && owners[who] == 0 {
				t.Fatalf("live agent %v has no row", c.Process)
			}
			if c.Strength == Exact && c.Session != "" && live && owners[who] == 0 {
				t.Fatalf("exact claim of %v has no row", c.Process)
			}
		}
	})
}

func TestCorrelatePrefersStrongEvidence(t *testing.T) {
	checkLaw(t, func(t *rapid.T, in input) {
		table := proctest.NewTable(in.processes...)
		exact := map[target]map[proc.ID]bool{}
		for _, c := range in.claims {
			if _, live := table.Find(c.Process); live && c.Session != "" && c.Strength == Exact {
				if exact[c.target()] == nil {
					exact[c.target()] = map[proc.ID]bool{}
				}
				exact[c.target()][c.Process] = true
			}
		}
		for _, s := range in.correlate() {
			for _, e := range s.Evidence {
				holders := exact[e.target()]
				if e.Session != "" && e.Accepted && len(holders) > 0 && !holders[e.Process] {
					t.Fatalf("%s evidence of %v beats exact evidence of %v", e.Strength, e.Process, slices.Collect(maps.Keys(holders)))
				}
				if e.Session != "" && !e.Accepted && holders[e.Process] && e.Strength == Exact {
					t.Fatalf("exact evidence refused: %+v", e)
				}
			}
		}
	})
}

// An additional claim never links a session that another process has, or that something else may have run.
func TestCorrelateAcceptsAdditionalEvidenceWhereNothingElseFits(t *testing.T) {
	checkLaw(t, func(t *rapid.T, in input) {
		for _, s := range in.correlate() {
			live := len(s.Processes) > 0
			for _, e := range s.Evidence {
				if !e.Additional || e.Strength == Exact || e.Session == "" {
					continue
				}
				_, alive := proctest.NewTable(in.processes...).Find(e.Process)
				switch {
				case e.Accepted && e.Alternative != "" && strongest(s, e.Process) == e.Strength && !acceptedOtherwise(s, e):
					t.Fatalf("linked in spite of a rival: %+v", e)
				case !e.Accepted && alive && !live && s.Status != Unknown:
					t.Fatalf("%s, though it may be live: %+v", s.Status, e)
				}
			}
		}
	})
}

// acceptedOtherwise reports whether another accepted claim ties the process to the session.
func acceptedOtherwise(s Session, e Evidence) bool {
	return slices.ContainsFunc(s.Evidence, func(o Evidence) bool { return o.Accepted && o.Process == e.Process && o.Alternative == "" })
}

func TestCorrelateAcceptsWeakEvidenceOnlyWhereItLeavesOneChoice(t *testing.T) {
	checkLaw(t, func(t *rapid.T, in input) {
		sessions := in.correlate()
		owned, owners := map[agentProcess]map[target]bool{}, map[target]map[proc.ID]bool{}
		for _, s := range sessions {
			for _, e := range s.Evidence {
				if !e.Accepted || e.Session == "" {
					continue
				}
				who := agentProcess{e.Agent, e.Process}
				if owned[who] == nil {
					owned[who] = map[target]bool{}
				}
				if owners[e.target()] == nil {
					owners[e.target()] = map[proc.ID]bool{}
				}
				owners[e.target()][e.Process] = true
				if !e.Additional || e.Strength > Weak {
					owned[who][e.target()] = true
				}
			}
		}
		for _, s := range sessions {
			for _, e := range s.Evidence {
				if e.Accepted && e.Strength == Weak && e.Session != "" && strongest(s, e.Process) == Weak {
					if n := len(owned[agentProcess{e.Agent, e.Process}]); n != 1 && !e.Additional {
						t.Fatalf("a weakly linked process owns %d sessions", n)
					}
					if n := len(owners[e.target()]); n != 1 {
						t.Fatalf("a weakly linked session has %d owners", n)
					}
				}
			}
		}
	})
}

// strongest returns the strongest accepted claim of a process.
func strongest(s Session, id proc.ID) Strength {
	best := Strength(0)
	for _, e := range s.Evidence {
		if e.Accepted && e.Process == id {
			best = max(best, e.Strength)
		}
	}
	return best
}

// A process that may run any session of its directory makes none live. One that is in a turn, and was written since the process started, is
// unknown: it may be the process's. An ended turn stays ended.
func TestAProcessThatMayRunAnySession(t *testing.T) {
	presence := Claim{Agent: Codex, Process: proc.ID{PID: 100, Birth: "now"}, Home: "/h", Dir: "/w", Strength: Exact, MayRunAny: true}
	for name, test := range map[string]struct {
		turn    TurnState
		updated int64 // seconds; the process starts at 100
		dir     string
		want    Status
		known   bool // to have no process
	}{
		"in a turn":              {TurnOpen, 200, "/w", Unknown, false},
		"ended":                  {TurnDone, 200, "/w", Stopped, false},
		"in a turn before":       {TurnOpen, 50, "/w", Stopped, false},
		"of another directory":   {TurnOpen, 200, "/v", Stopped, true},
		"nothing says its state": {TurnUnknown, 200, "/w", Unknown, false},
	} {
		in := input{
			processes: []proctest.Process{fakeProcess(100, "now", 'S'), fakeProcess(101, "now", 'S')},
			claims:    []Claim{presence, presence},
			records:   []Record{{Agent: Codex, ID: "a", Path: "/h/a", Home: "/h", Dir: test.dir, Updated: time.Unix(test.updated, 0), Turn: Turn{State: test.turn}}},
		}
		in.claims[1].Process.PID = 101
		sessions := in.correlate()
		i := slices.IndexFunc(sessions, func(s Session) bool { return s.ID == "a" })
		s := sessions[i]
		if mentions := strings.Contains(s.Reason, "process 100 in its directory may"); len(sessions) != 3 || s.Status != test.want || mentions == test.known {
			t.Errorf("%s: %s, %s", name, s.Status, s.Reason)
		}
		for _, row := range slices.Delete(sessions, i, i+1) {
			if row.ID != "" || !row.MayRunAny {
				t.Errorf("%s: %+v", name, row)
			}
		}
	}
}

func TestCorrelateIgnoresUnrelatedProcesses(t *testing.T) {
	checkLaw(t, func(t *rapid.T, in input) {
		want := asText(t, in.correlate())
		for pid := range 5 {
			in.processes = append(in.processes, fakeProcess(900+pid, "now", 'S'))
		}
		if got := asText(t, in.correlate()); got != want {
			t.Fatalf("unrelated processes changed the answer:\n%s\n%s", want, got)
		}
	})
}

// Of a session that has just begun, the process shows the directory and the turn before storage has them.
func TestAPresenceSuppliesWhatIsNotStoredYet(t *testing.T) {
	presence := Claim{Agent: Codex, Process: proc.ID{PID: 100, Birth: "now"}, Home: "/h", Dir: "/w", Turn: &Turn{State: TurnOpen}}
	named := Claim{Agent: Codex, Process: presence.Process, Home: "/h", Session: "a", Path: "/h/1", Strength: Exact}
	shared := presence
	shared.Shared = true
	for _, tc := range []struct {
		presence Claim
		record   Record
		dir      string
		status   Status
	}{
		{presence, Record{Turn: Turn{State: TurnNone}}, "/w", Running},
		{presence, Record{Dir: "/v", Turn: Turn{State: TurnDone}}, "/v", Idle},
		{shared, Record{Turn: Turn{State: TurnNone}}, "", Idle},
	} {
		tc.record.Agent, tc.record.ID, tc.record.Path, tc.record.Home = Codex, "a", "/h/1", "/h"
		got := Correlate(proctest.NewTable(fakeProcess(100, "now", 'S')), []Claim{tc.presence, named}, []Record{tc.record})
		if len(got) != 1 || got[0].Dir != tc.dir || got[0].Status != tc.status || got[0].Turn != tc.record.Turn {
			t.Errorf("%+v: %+v", tc, got)
		}
	}
}

// A teammate with a terminal of its own has a parent and is no sub-agent, before it is stored and after.
func TestATeammateIsNoSubagent(t *testing.T) {
	p := fakeProcess(100, "now", 'S')
	presence := Claim{Agent: ClaudeCode, Process: p.ID, Strength: Exact, Kind: "process", Title: "mate", Parent: "lead", Team: "team"}
	running := presence
	running.Session, running.Path, running.Title = "a", "/h/1", ""
	record := Record{Agent: ClaudeCode, ID: "a", Path: "/h/1", Title: "mate", Team: "team"}
	for name, in := range map[string]input{
		"not stored": {[]proctest.Process{p}, []Claim{presence}, nil},
		"stored":     {[]proctest.Process{p}, []Claim{presence, running}, []Record{record}},
	} {
		got := in.correlate()
		if len(got) != 1 || got[0].Parent != "lead" || got[0].Team != "team" || got[0].Title != "mate" || got[0].IsSubagent() {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if record.Sub = true; !record.IsSubagent() {
		t.Error("one in the process of its session is a sub-agent")
	}
}

// S11: ten thousand processes have the pid, but not the birth, that a claim names.
func TestRecycledPIDsAreRefused(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 20_000 {
		pid, was, is := 1+r.IntN(1<<22), r.Uint64N(1<<40), r.Uint64N(1<<40)
		if was == is {
			continue
		}
		in := input{
			processes: []proctest.Process{fakeProcess(pid, fmt.Sprint("boot/", is), 'S')},
			records:   []Record{{Agent: ClaudeCode, ID: "a", Path: "/p", Turn: Turn{State: TurnOpen}}},
			claims: []Claim{{
				Agent: ClaudeCode, Session: "a", Path: "/p", Strength: []Strength{Exact, Strong, Weak}[i%3],
				Process: proc.ID{PID: pid, Birth: fmt.Sprint("boot/", was)}, Turn: &Turn{State: TurnOpen},
			}},
		}
		got := in.correlate()
		if len(got) != 1 || got[0].Status != Stopped || len(got[0].Processes) != 0 {
			t.Fatalf("recycled pid %d accepted: %+v", pid, got)
		}
	}
}
