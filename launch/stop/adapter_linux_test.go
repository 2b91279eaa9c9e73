package stop

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/proc"
)

// testAdapter is the adapter of the tests' agent. Every session that it is asked for is stored.
type testAdapter struct {
	launch.Defaults
	// test is the test whose processes it sees.
	test    string
	signals []syscall.Signal
	// interrupt answers a request to interrupt a session. nil: no session needs a request.
	interrupt func(context.Context, discover.Session) (bool, error)
	// idle: no turn is in progress.
	idle *atomic.Bool
	// dir is the sessions' directory; otherDirs are directories that have a session of each ID as well.
	dir       string
	otherDirs []string
}

func (testAdapter) Name() discover.Agent { return "testagent" }

func (testAdapter) Homes(discover.HomeSources, *proc.Table) []discover.Home {
	return []discover.Home{{Dir: "/h", FromUser: true}}
}

func (a testAdapter) Claims(_ context.Context, table *proc.Table, _ []discover.Home) (claims []discover.Claim, err error) {
	for p := range table.All() {
		found, ok := a.testProcess(p)
		base := discover.Claim{Agent: a.Name(), Process: p.ID, Home: "/h"}
		for _, id := range found.Shows {
			c := base
			c.Session, c.Path, c.Strength, c.Kind, c.Client = id, "/h/"+id, discover.Weak, "args", true
			claims = append(claims, c)
		}
		if !ok || found.Sessions == nil {
			continue
		}
		claims = append(claims, base)
		for _, id := range found.Sessions {
			c := base
			c.Session, c.Path, c.Strength, c.Kind = id, "/h/"+id, discover.Exact, "args"
			if a.idle.Load() {
				c.Turn = &discover.Turn{State: discover.TurnDone}
			}
			if strings.HasPrefix(id, "perhaps-") {
				c.Strength = discover.Weak
			}
			claims = append(claims, c)
		}
	}
	return claims, nil
}

// testProcess returns what a process of this test was started with.
func (a testAdapter) testProcess(p proc.Process) (found testProcess, ok bool) {
	args, err := p.Args()
	if err != nil || len(args) < 2 || !strings.HasPrefix(args[0], argPrefix+" ") || !p.Alive() {
		return found, false
	}
	env, err := p.Env(testKey)
	return found, err == nil && env[testKey] == a.test && json.Unmarshal([]byte(args[1]), &found) == nil
}

func (a testAdapter) Entries(_ context.Context, _ []discover.Home, q discover.EntryFilter) (list []discover.Entry, err error) {
	refs := q.Refs
	if len(refs) == 0 {
		refs = []discover.Ref{{ID: q.ID, Path: "/h/" + q.ID}}
	}
	for _, r := range refs {
		list = append(list, discover.Entry{Agent: "testagent", ID: r.ID, Path: r.Path, Home: "/h"})
		for _, dir := range a.otherDirs {
			if len(q.Refs) == 0 {
				list = append(list, discover.Entry{Agent: "testagent", ID: r.ID, Path: dir, Home: "/h"})
			}
		}
	}
	return list, nil
}

func (a testAdapter) Read(_ context.Context, entries []discover.Entry, _ discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		for _, e := range entries {
			r := discover.Record{Agent: "testagent", ID: e.ID, Path: e.Path, Home: e.Home, Turn: discover.Turn{State: discover.TurnOpen}}
			if r.Dir = a.dir; filepath.Dir(e.Path) != "/h" {
				r.Dir = e.Path
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (testAdapter) Spec(launch.Request, launch.Environment) (launch.Spec, error) { panic("not used") }

func (testAdapter) ParseOutput(launch.Output) launch.ParsedOutput { panic("not used") }

func (testAdapter) ScrubbedEnv() []string { return nil }

func (a testAdapter) StopSignals() []syscall.Signal {
	if a.signals == nil {
		return a.Defaults.StopSignals()
	}
	return a.signals
}

func (a testAdapter) NeedsInterrupt(discover.Session) bool { return a.interrupt != nil }

func (a testAdapter) Interrupt(ctx context.Context, s discover.Session, _ launch.Environment) (bool, error) {
	if a.interrupt == nil {
		return false, nil
	}
	return a.interrupt(ctx, s)
}

func (testAdapter) MarkerKeys() []string { return []string{testKey, sessionMarkerKey, pidMarkerKey} }

func (testAdapter) IsAgentProcess(proc.Process) bool { return false }

// ReadMarker reads markers of its own test only: the same test may be running elsewhere on the machine.
func (a testAdapter) ReadMarker(getenv func(string) string) (discover.EnvMarker, bool) {
	pid, _ := strconv.Atoi(getenv(pidMarkerKey))
	marker := discover.EnvMarker{Session: getenv(sessionMarkerKey), PID: pid}
	return marker, marker != discover.EnvMarker{} && getenv(testKey) == a.test
}

func (a testAdapter) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env(a.MarkerKeys()...)
	if err != nil || env[testKey] != a.test {
		return false
	}
	return env[sessionMarkerKey] != "" && env[sessionMarkerKey] == s.ID || slices.ContainsFunc(s.Processes, func(q proc.Process) bool {
		return env[pidMarkerKey] == fmt.Sprint(q.ID.PID) && p.Ticks >= q.Ticks
	})
}

// fixture is the scanner and the options of one test.
type fixture struct {
	*testing.T
	testAdapter
	Options
	// readTable reads the process table.
	readTable func(context.Context) (*proc.Table, error)
}

// newFixture makes the fixture for the processes that the test starts.
func newFixture(t *testing.T) *fixture {
	return &fixture{
		t,
		testAdapter{test: t.Name() + fmt.Sprint(os.Getpid()), idle: &atomic.Bool{}},
		Options{Timeout: time.Minute, SelfPID: os.Getpid()},
		proc.ReadTable,
	}
}

func (s *fixture) scanner() *discover.Scanner {
	return &discover.Scanner{
		Adapters: []discover.Adapter{s.testAdapter},
		HomeSources: func(discover.Agent) discover.HomeSources {
			return discover.HomeSources{Getenv: func(string) string { return "" }}
		},
		ReadTable: s.readTable, UID: os.Geteuid(),
	}
}

// sessions finds sessions by their IDs.
func (s *fixture) sessions(ids ...string) (out []discover.Session) {
	s.Helper()
	for _, id := range ids {
		r, err := s.scanner().Find(s.Context(), id, nil, discover.ReadOptions{})
		if err != nil {
			s.Fatal(err)
		}
		out = append(out, r.Sessions...)
	}
	return out
}

// stop stops sessions.
func (s *fixture) stop(ids ...string) []Result {
	s.Helper()
	return s.stopSessions(s.Context(), s.sessions(ids...))
}

func (s *fixture) stopSessions(ctx context.Context, chosen []discover.Session) []Result {
	s.Helper()
	results, err := Sessions(ctx, s.scanner(), chosen, s.Options)
	if err != nil || len(results) != len(chosen) {
		s.Fatalf("%d results, %v", len(results), err)
	}
	return results
}

// check compares the outcome, and which of the processes are alive.
func check(t *testing.T, c *processes, r Result, outcome Outcome, names, alive string) {
	t.Helper()
	if r.Outcome != outcome {
		t.Errorf("the outcome is %s (%s), want %s", r.Outcome, r.Message, outcome)
	}
	if got := c.alive(strings.Fields(names)...); got != alive {
		t.Errorf("of %q, %q are alive, want %q", names, got, alive)
	}
}

// sentTo returns the signals to the processes of one role.
func sentTo(r Result, role Role) (out []syscall.Signal) {
	for _, s := range r.Signalled {
		if s.Role == role {
			out = append(out, s.Signal)
		}
	}
	return out
}
