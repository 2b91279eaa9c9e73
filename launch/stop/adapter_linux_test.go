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

// actors is the adapter of a test's agents. Every session it is asked for is stored.
type actors struct {
	stage  string
	gentle []syscall.Signal
	end    func(discover.Session) (bool, error)
	// idle: no turn is in progress.
	idle *atomic.Bool
	// seen: only the agents' processes name their home.
	seen bool
	// dir is the sessions' directory; copies are directories that have a session of each ID as well.
	dir    string
	copies []string
}

func (actors) Name() discover.Agent { return "actor" }

func (a actors) Homes(_ discover.HomeSources, table *proc.Table) []discover.Home {
	if !a.seen {
		return []discover.Home{{Dir: "/h", FromUser: true}}
	}
	h := discover.Home{Dir: "/h"}
	for p := range table.All() {
		if _, ok := a.part(p); ok {
			h.NamedBy = append(h.NamedBy, p.ID)
		}
	}
	return []discover.Home{h}
}

func (a actors) Claims(_ context.Context, table *proc.Table, _ []discover.Home) (claims []discover.Claim, err error) {
	for p := range table.All() {
		played, ok := a.part(p)
		if !ok || played.Runs == nil {
			continue
		}
		base := discover.Claim{Agent: a.Name(), Process: p.ID, Home: "/h"}
		claims = append(claims, base)
		for _, id := range played.Runs {
			c := base
			c.Session, c.Path, c.Strength, c.Kind = id, "/h/"+id, discover.Exact, "part"
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

// part is what a process of this test plays.
func (a actors) part(p proc.Process) (played part, ok bool) {
	args, err := p.Args()
	if err != nil || len(args) < 2 || !strings.HasPrefix(args[0], actorWord+" ") || !p.Alive() {
		return played, false
	}
	env, err := p.Env(stageKey)
	return played, err == nil && env[stageKey] == a.stage && json.Unmarshal([]byte(args[1]), &played) == nil
}

func (a actors) Entries(_ context.Context, _ []discover.Home, q discover.EntryFilter) (list []discover.Entry, err error) {
	refs := q.Refs
	if len(refs) == 0 {
		refs = []discover.Ref{{ID: q.ID, Path: "/h/" + q.ID}}
	}
	for _, r := range refs {
		list = append(list, discover.Entry{Agent: "actor", ID: r.ID, Path: r.Path, Home: "/h"})
		for _, dir := range a.copies {
			if len(q.Refs) == 0 {
				list = append(list, discover.Entry{Agent: "actor", ID: r.ID, Path: dir, Home: "/h"})
			}
		}
	}
	return list, nil
}

func (a actors) Read(_ context.Context, entries []discover.Entry, _ discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		for _, e := range entries {
			r := discover.Record{Agent: "actor", ID: e.ID, Path: e.Path, Home: e.Home, Turn: discover.Turn{State: discover.TurnOpen}}
			if r.Dir = a.dir; filepath.Dir(e.Path) != "/h" {
				r.Dir = e.Path
			}
			if !yield(r, nil) {
				return
			}
		}
	}
}

func (a actors) StopSignals() []syscall.Signal { return a.gentle }

func (a actors) NeedsInterrupt(discover.Session) bool { return a.end != nil }

func (a actors) Interrupt(_ context.Context, s discover.Session, _ launch.Environment) (bool, error) {
	if a.end == nil {
		return false, nil
	}
	return a.end(s)
}

func (actors) MarkerKeys() []string { return []string{stageKey, sessionMark, pidMark} }

func (actors) IsAgentProcess(proc.Process) bool { return false }

// ReadMarker knows its own stage's only: the same test may be running elsewhere on the machine.
func (a actors) ReadMarker(getenv func(string) string) (discover.EnvMarker, bool) {
	pid, _ := strconv.Atoi(getenv(pidMark))
	mark := discover.EnvMarker{Session: getenv(sessionMark), PID: pid}
	return mark, mark != discover.EnvMarker{} && getenv(stageKey) == a.stage
}

func (a actors) HasMarker(p proc.Process, s discover.Session) bool {
	env, err := p.Env(a.MarkerKeys()...)
	if err != nil || env[stageKey] != a.stage {
		return false
	}
	return env[sessionMark] != "" && env[sessionMark] == s.ID || slices.ContainsFunc(s.Processes, func(q proc.Process) bool {
		return env[pidMark] == fmt.Sprint(q.ID.PID) && p.Ticks >= q.Ticks
	})
}

// setting is the world of one test.
type setting struct {
	*testing.T
	actors
	Options
	// take takes the process table.
	take func(context.Context) (*proc.Table, error)
}

// set makes a world of the processes that this test has started, or will.
func set(t *testing.T) *setting {
	return &setting{
		t,
		actors{stage: t.Name() + fmt.Sprint(os.Getpid()), idle: &atomic.Bool{}},
		Options{Timeout: time.Minute, SelfPID: os.Getpid()},
		proc.ReadTable,
	}
}

func (s *setting) world() *discover.Scanner {
	return &discover.Scanner{
		Adapters: []discover.Adapter{s.actors},
		HomeSources: func(discover.Agent) discover.HomeSources {
			return discover.HomeSources{Getenv: func(string) string { return "" }}
		},
		ReadTable: s.take, UID: os.Geteuid(),
	}
}

// sessions finds sessions by their IDs.
func (s *setting) sessions(ids ...string) (out []discover.Session) {
	s.Helper()
	for _, id := range ids {
		r, err := s.world().Find(s.Context(), id, nil, discover.ReadOptions{})
		if err != nil {
			s.Fatal(err)
		}
		out = append(out, r.Sessions...)
	}
	return out
}

// stop stops sessions.
func (s *setting) stop(ids ...string) []Result {
	s.Helper()
	return s.stopIn(s.Context(), s.sessions(ids...))
}

func (s *setting) stopIn(ctx context.Context, chosen []discover.Session) []Result {
	s.Helper()
	results, err := Sessions(ctx, s.world(), chosen, s.Options)
	if err != nil || len(results) != len(chosen) {
		s.Fatalf("%d results, %v", len(results), err)
	}
	return results
}

// want compares the outcome and who lives.
func want(t *testing.T, c *cast, r Result, outcome Outcome, of, alive string) {
	t.Helper()
	if r.Outcome != outcome {
		t.Errorf("the outcome is %s (%s), want %s", r.Outcome, r.Message, outcome)
	}
	if got := c.alive(strings.Fields(of)...); got != alive {
		t.Errorf("of %q there live %q, want %q", of, got, alive)
	}
}

// sentTo are the signals to the processes of one role.
func sentTo(r Result, role Role) (out []syscall.Signal) {
	for _, s := range r.Signalled {
		if s.Role == role {
			out = append(out, s.Signal)
		}
	}
	return out
}
