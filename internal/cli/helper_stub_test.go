// Package cmdtest has what the commands are tested with: agents with made-up stores, and a factory that knows only them.
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

// Now is the time of day in the tests.
func Now() time.Time { return time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC) }

// Stub is an agent whose store and processes are made up.
type Stub struct {
	discover.Defaults
	Agent     discover.Agent
	Bin       string
	Home      string
	Records   []discover.Record
	ClaimList []discover.Claim
	Warning   error
	// Transcripts are the messages of sessions by ID, the oldest first; torn is why what is before them cannot be read.
	Transcripts map[string][]discover.Message
	ReadErr     error
	// Answers is what sessions used, by ID.
	Answers map[string][]discover.Usage
}

// ReadUsage implements [discover.UsageReader].
func (s Stub) ReadUsage(ctx context.Context, entries []discover.Entry) iter.Seq2[*discover.SessionUsage, error] {
	return func(yield func(*discover.SessionUsage, error) bool) {
		for r, err := range s.Read(ctx, entries, discover.ReadOptions{Tokens: true}) {
			if !yield(&discover.SessionUsage{Record: r, Usage: slices.Clone(s.Answers[r.ID])}, err) {
				return
			}
		}
	}
}

// Messages implements [discover.Messenger].
func (s Stub) Messages(_ context.Context, r discover.Record) iter.Seq2[discover.Message, error] {
	return func(yield func(discover.Message, error) bool) {
		for _, m := range slices.Backward(s.Transcripts[r.ID]) {
			if !yield(m, nil) {
				return
			}
		}
		if s.ReadErr != nil {
			yield(discover.Message{}, s.ReadErr)
		}
	}
}

// Name implements [discover.Adapter].
func (s Stub) Name() discover.Agent { return s.Agent }

// Program implements [discover.ProgramNamer].
func (s Stub) Program() string { return s.Bin }

// Homes implements [discover.Adapter].
func (s Stub) Homes(setup discover.HomeSources, _ *proc.Table) []discover.Home {
	homes := []discover.Home{{Dir: s.Home, FromUser: true}}
	for _, dir := range setup.Configured {
		homes = append(homes, discover.Home{Dir: dir, FromUser: true, Explicit: true})
	}
	return homes
}

// Claims implements [discover.Adapter].
func (s Stub) Claims(context.Context, *proc.Table, []discover.Home) ([]discover.Claim, error) {
	return s.ClaimList, nil
}

// Entries implements [discover.Adapter].
func (s Stub) Entries(_ context.Context, homes []discover.Home, q discover.EntryFilter) ([]discover.Entry, error) {
	var out []discover.Entry
	for _, r := range s.Records {
		named := len(q.Refs) == 0
		for _, ref := range q.Refs {
			named = named || ref.ID == r.ID
		}
		named = named && (q.Parents == nil || r.IsSubagent())
		if named && strings.HasPrefix(r.ID, q.ID) && !r.Updated.Before(q.Since) && r.Home == homes[0].Dir {
			out = append(out, discover.Entry{
				Agent: s.Agent, ID: r.ID, Path: r.Path, Home: r.Home, Updated: r.Updated, Size: 100, Parent: r.Parent,
			})
		}
	}
	return out, s.Warning
}

// Read implements [discover.Adapter].
func (s Stub) Read(_ context.Context, entries []discover.Entry, _ discover.ReadOptions) iter.Seq2[discover.Record, error] {
	return func(yield func(discover.Record, error) bool) {
		for _, e := range entries {
			for _, r := range s.Records {
				if r.ID == e.ID && r.Path == e.Path && !yield(r, nil) {
					return
				}
			}
		}
	}
}

// Process is a live process of the made-up table; the test itself is 1000.
func Process(pid, parent int) proc.FakeProcess {
	return proc.FakeProcess{Process: proc.Process{
		ID: proc.ID{PID: pid, Birth: "boot/1"}, Parent: parent, State: 'S', Started: Now().Add(-time.Hour),
	}}
}

// Record is a stored session of codex.
func Record(id, dir string, turn discover.TurnState, age time.Duration) discover.Record {
	return discover.Record{
		Agent: "codex", ID: id, Dir: dir, Home: "/h/codex", Path: "/h/codex/" + id + dir + ".jsonl",
		Title: "title of " + id, Updated: Now().Add(-age), Turn: discover.Turn{State: turn},
	}
}

// testFactory is a world of: aaaaaaaa-1 running in process 10; aaaaaaaa-2 stopped, completed; cccccccc stopped twice, in
// /w/a and /w/b; dddddddd stopped 30 days ago; process 20 of claude-code, which runs a session no one can name.
func testFactory(t *testing.T) (Factory, *Output) {
	t.Helper()
	out := &Output{}
	table := proc.NewFakeTable(Process(1, 0), Process(10, 1), Process(11, 10), Process(20, 1), Process(21, 20), Process(1000, 11))
	live := Record("aaaaaaaa-1", t.TempDir(), discover.TurnOpen, time.Minute)
	codex := Stub{
		Agent: "codex", Bin: "codex", Home: "/h/codex",
		Records: []discover.Record{
			live,
			Record("aaaaaaaa-2", "/w/a", discover.TurnDone, time.Hour),
			Record("cccccccc", "/w/a", discover.TurnFailed, 2*time.Hour),
			Record("cccccccc", "/w/b", discover.TurnOpen, 3*time.Hour),
			Record("dddddddd", "/w/d", discover.TurnDone, 30*24*time.Hour),
		},
		ClaimList: []discover.Claim{
			{Agent: "codex", Process: proc.ID{PID: 10, Birth: "boot/1"}, Home: "/h/codex"},
			{
				Agent: "codex", Process: proc.ID{PID: 10, Birth: "boot/1"}, Home: "/h/codex", Session: live.ID, Path: live.Path,
				Strength: discover.Exact, Kind: "writer-lock", Detail: "/h/codex/lock",
			},
		},
	}
	claude := Stub{
		Agent: "claude-code", Bin: "claude", Home: "/h/claude",
		ClaimList: []discover.Claim{{Agent: "claude-code", Process: proc.ID{PID: 20, Birth: "boot/1"}, Home: "/h/claude"}},
	}
	vars := map[string]string{"HOME": t.TempDir()}
	return Factory{
		Stdout: &out.Stdout, Stderr: &out.Stderr, Report: NewReporter(&out.Stderr),
		Getenv: func(k string) string { return vars[k] },
		Now:    Now, PID: 1000,
		Adapters:  []discover.Adapter{claude, codex},
		ReadTable: func(ctx context.Context) (*proc.Table, error) { return table, ctx.Err() },
		CrossCheck: func(*proc.Table) (int, []proc.Difference, error) {
			return 7, []proc.Difference{{PID: 12, Name: "x) R 1", Text: "missing in go-ps"}}, nil
		},
	}, out
}

// Output is what a command has printed.
type Output struct{ Stdout, Stderr bytes.Buffer }

// Setenv adds to the environment.
func Setenv(f Factory, pairs ...string) Factory {
	old := f.Getenv
	f.Getenv = func(k string) string {
		for i := 0; i < len(pairs); i += 2 {
			if pairs[i] == k {
				return pairs[i+1]
			}
		}
		return old(k)
	}
	return f
}

// StoreError is why the store of broken cannot be read whole.
func StoreError() error {
	return &discover.Warning{Agent: "codex", Path: "/h/codex/sessions", Err: errors.New("it is\x1b[2J broken")}
}

// Broken has a store that cannot be read whole.
func Broken(f Factory) Factory {
	s := f.Adapters[1].(Stub)
	s.Warning = StoreError()
	f.Adapters = []discover.Adapter{f.Adapters[0], s}
	return f
}
