package cli

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/proc"
)

// now is the time of day in the tests.
func now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// stub is an agent whose store and processes are made up.
type stub struct {
	name    discover.Agent
	program string
	home    string
	records []discover.Record
	claims  []discover.Claim
	warning error
	// said are the messages of sessions by ID, the oldest first; torn is why what is before them cannot be read.
	said map[string][]discover.Message
	torn error
}

func (s stub) Messages(_ context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		for _, m := range slices.Backward(s.said[r.ID]) {
			if !yield(m, nil) {
				return
			}
		}
		if s.torn != nil {
			yield(discover.Message{}, s.torn)
		}
	}
}

func (s stub) Name() discover.Agent { return s.name }
func (s stub) Program() string      { return s.program }

func (s stub) Homes(setup discover.HomeSources, _ *proc.Table) []discover.Home {
	homes := []discover.Home{{Dir: s.home, FromUser: true}}
	for _, dir := range setup.Configured {
		homes = append(homes, discover.Home{Dir: dir, FromUser: true, Explicit: true})
	}
	return homes
}

func (s stub) Claims(context.Context, *proc.Table, []discover.Home) ([]discover.Claim, error) {
	return s.claims, nil
}

func (s stub) Entries(_ context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	var out []discover.Entry
	for _, r := range s.records {
		named := len(q.Refs) == 0
		for _, ref := range q.Refs {
			named = named || ref.ID == r.ID
		}
		named = named && (q.Parents == nil || r.IsSubagent())
		if named && strings.HasPrefix(r.ID, q.ID) && !r.Updated.Before(q.Since) && r.Home == homes[0].Dir {
			out = append(out, discover.Entry{
				Agent: s.name, ID: r.ID, Path: r.Path, Home: r.Home, Updated: r.Updated, Size: 100, Parent: r.Parent,
			})
		}
	}
	return out, s.warning
}

func (s stub) Read(_ context.Context, entries []discover.Entry, _ discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		for _, e := range entries {
			for _, r := range s.records {
				if r.ID == e.ID && r.Path == e.Path && !yield(r, nil) {
					return
				}
			}
		}
	}
}

// process is a live process of the made-up table; the test itself is 1000.
func process(pid, parent int) proc.FakeProcess {
	return proc.FakeProcess{Process: proc.Process{
		ID: proc.ID{PID: pid, Birth: "boot/1"}, Parent: parent, State: 'S', Started: now().Add(-time.Hour),
	}}
}

// record is a stored session of codex.
func record(id, dir string, turn discover.TurnState, age time.Duration) discover.Record {
	return discover.Record{
		Agent: "codex", ID: id, Dir: dir, Home: "/h/codex", Path: "/h/codex/" + id + dir + ".jsonl",
		Title: "title of " + id, Updated: now().Add(-age), Turn: discover.Turn{State: turn},
	}
}

// testEnv is a world of: aaaaaaaa-1 running in process 10; aaaaaaaa-2 stopped, completed; cccccccc stopped twice, in
// /w/a and /w/b; dddddddd stopped 30 days ago; process 20 of claude-code, which runs a session no one can name.
func testEnv(t *testing.T) (Env, *captured) {
	t.Helper()
	out := &captured{}
	table := proc.NewFakeTable(process(1, 0), process(10, 1), process(11, 10), process(20, 1), process(21, 20), process(1000, 11))
	live := record("aaaaaaaa-1", t.TempDir(), discover.TurnOpen, time.Minute)
	codex := stub{
		name: "codex", program: "codex", home: "/h/codex",
		records: []discover.Record{
			live,
			record("aaaaaaaa-2", "/w/a", discover.TurnDone, time.Hour),
			record("cccccccc", "/w/a", discover.TurnFailed, 2*time.Hour),
			record("cccccccc", "/w/b", discover.TurnOpen, 3*time.Hour),
			record("dddddddd", "/w/d", discover.TurnDone, 30*24*time.Hour),
		},
		claims: []discover.Claim{
			{Agent: "codex", Process: proc.ID{PID: 10, Birth: "boot/1"}, Home: "/h/codex"},
			{
				Agent: "codex", Process: proc.ID{PID: 10, Birth: "boot/1"}, Home: "/h/codex", Session: live.ID, Path: live.Path,
				Strength: discover.Exact, Kind: "writer-lock", Detail: "/h/codex/lock",
			},
		},
	}
	claude := stub{
		name: "claude-code", program: "claude", home: "/h/claude",
		claims: []discover.Claim{{Agent: "claude-code", Process: proc.ID{PID: 20, Birth: "boot/1"}, Home: "/h/claude"}},
	}
	vars := map[string]string{"HOME": t.TempDir()}
	return Env{
		Stdout: &out.stdout, Stderr: &out.stderr, report: newReporter(&out.stderr),
		Getenv: func(k string) string { return vars[k] },
		Now:    now, PID: 1000,
		Adapters: []discover.Adapter{claude, codex},
		Take:     func(ctx context.Context) (*proc.Table, error) { return table, ctx.Err() },
		CrossCheck: func(*proc.Table) (int, []proc.Difference, error) {
			return 7, []proc.Difference{{PID: 12, Name: "x) R 1", Text: "missing in go-ps"}}, nil
		},
	}, out
}

type captured struct{ stdout, stderr bytes.Buffer }

// setenv adds to the environment.
func setenv(env Env, pairs ...string) Env {
	old := env.Getenv
	env.Getenv = func(k string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == k {
				return pairs[i+1]
			}
		}
		return old(k)
	}
	return env
}

// storeError is why the store of broken cannot be read whole.
func storeError() error {
	return &discover.Warning{Agent: "codex", Path: "/h/codex/sessions", Err: errors.New("it is\x1b[2J broken")}
}

// broken has a store that cannot be read whole.
func broken(env Env) Env {
	s := env.Adapters[1].(stub)
	s.warning = storeError()
	env.Adapters = []discover.Adapter{env.Adapters[0], s}
	return env
}
