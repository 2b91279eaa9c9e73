package discover

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"agentctl/proc"
	"agentctl/tests/proctest"
)

// idAdapter is an adapter whose agent makes IDs with a prefix. It counts the searches of its store.
type idAdapter struct {
	testAdapter
	prefix string
	asked  *int
}

func (m idAdapter) MatchesID(id string) bool { return strings.HasPrefix(id, m.prefix) && len(id) == 4 }

func (m idAdapter) Entries(ctx context.Context, homes []Home, q EntryFilter) ([]Entry, error) {
	if *m.asked++; len(homes) == 0 {
		return nil, errors.New("asked without a home")
	}
	return m.testAdapter.Entries(ctx, homes, q)
}

func TestFindFindsALiveSessionWithAnIDOfAnotherShape(t *testing.T) {
	stored, live := record(ClaudeCode, "a111", 1), exactClaim("a111", 7)
	stored.Path = "/c/a111"
	live.Agent, live.Path = ClaudeCode, stored.Path
	scanner := newScanner(
		func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) },
		idAdapter{testAdapter{agent: Codex, records: []Record{record(Codex, "a111", 1)}}, "a", new(int)},
		idAdapter{testAdapter{agent: ClaudeCode, claims: []Claim{live}, records: []Record{stored}}, "b", new(int)},
	)
	var ambiguous *AmbiguousError
	if _, err := scanner.Find(t.Context(), "a111", nil, ReadOptions{}); !errors.As(err, &ambiguous) || len(ambiguous.Candidates) != 2 {
		t.Errorf("%v, want both of them", err)
	}
}

// TestAMovedSessionIsOneSession although it was read before its agent moved its file, and again where a live process says that it is.
func TestAMovedSessionIsOneSession(t *testing.T) {
	from, to := filepath.Join(t.TempDir(), "s1"), filepath.Join(t.TempDir(), "s1")
	for _, c := range []struct {
		name  string
		files []string
		want  string
	}{
		{"moved", []string{to}, "s1:idle"},
		{"in both places", []string{from, to}, "s1:idle s1:stopped"},
		{"gone", nil, "s1:idle s1:stopped"}, // the storage is away: what was read is what is known
	} {
		t.Run(c.name, func(t *testing.T) {
			before, after := record(Codex, "s1", 1), record(Codex, "s1", 2)
			before.Path, after.Path = from, to
			claim := exactClaim("s1", 7)
			claim.Path = to
			scanner := newScanner(func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }, testAdapter{
				agent: Codex, claims: []Claim{claim}, records: []Record{before, after},
			})
			for _, path := range []string{from, to} {
				_ = os.Remove(path)
			}
			for _, path := range c.files {
				if err := os.WriteFile(path, nil, 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if r, err := scanner.List(t.Context(), SessionFilter{IncludeStopped: true}); err != nil || idsAndStatuses(r.Sessions) != c.want {
				t.Errorf("list: %q, %v; want %q", idsAndStatuses(r.Sessions), err, c.want)
			}
			r, err := scanner.Find(t.Context(), "s1", nil, ReadOptions{})
			if one := !strings.Contains(c.want, " "); one != (err == nil) || one && idsAndStatuses(r.Sessions) != c.want {
				t.Errorf("find: %q, %v; want %q", idsAndStatuses(r.Sessions), err, c.want)
			}
		})
	}
}

// unreadableAdapter is an adapter whose records cannot be read, or nothing of its store if it is closed.
type unreadableAdapter struct {
	idAdapter
	path   string
	closed bool
}

func (m unreadableAdapter) Entries(ctx context.Context, homes []Home, q EntryFilter) ([]Entry, error) {
	if m.closed {
		return nil, &Warning{Agent: m.agent, Path: m.path, Err: os.ErrPermission}
	}
	return m.idAdapter.Entries(ctx, homes, q)
}

func (m unreadableAdapter) Read(context.Context, []Entry, ReadOptions) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		yield(Record{}, &Warning{Agent: m.agent, Path: m.path, Err: errors.New("damaged")})
	}
}

// A session that is stored and cannot be read is not one that does not exist.
func TestFindDistinguishesUnreadableFromMissing(t *testing.T) {
	whole := idAdapter{testAdapter{agent: ClaudeCode, records: []Record{record(ClaudeCode, "b222", 1)}}, "b", new(int)}
	damaged := idAdapter{testAdapter{agent: Codex, records: []Record{record(Codex, "a111", 1), record(Codex, "b444", 1)}}, "a", new(int)}
	for _, c := range []struct {
		arg    string
		closed bool
		want   error
		words  string
	}{
		{"a111", false, ErrUnreadable, "session a111 is stored"},
		{"a1", false, ErrUnreadable, "session a1 is stored"},
		{"b444", false, ErrUnreadable, "session b444 is stored"}, // an ID as the other agent makes them
		{"a333", false, ErrNotFound, ""},
		{"a333", true, ErrUnreadable, "no session a333 in what can be read"},
		{"zz", true, ErrUnreadable, ""},
		{"b333", true, ErrNotFound, ""}, // the other agent has not made it
		{"b222", true, nil, ""},
	} {
		scanner := newScanner(func() *proc.Table { return proctest.NewTable() }, unreadableAdapter{damaged, "/store", c.closed}, whole)
		r, err := scanner.Find(t.Context(), c.arg, nil, ReadOptions{})
		if !errors.Is(err, c.want) || err != nil && !strings.Contains(err.Error(), c.words) {
			t.Errorf("%s: %v, want %v", c.arg, err, c.want)
		}
		if (len(r.Warnings) > 0) != (errors.Is(c.want, ErrUnreadable) || c.arg == "b333") {
			t.Errorf("%s: warnings %v", c.arg, r.Warnings)
		}
	}
}

// homelessAdapter is an agent of which no home is known, as without HOME.
type homelessAdapter struct{ idAdapter }

func (homelessAdapter) Homes(HomeSources, *proc.Table) []Home { return nil }

// Where no home of an agent is known, no session that may be its own is called missing.
func TestFindWithoutAHome(t *testing.T) {
	whole := idAdapter{testAdapter{agent: ClaudeCode, records: []Record{record(ClaudeCode, "b222", 1)}}, "b", new(int)}
	homeless := homelessAdapter{idAdapter{testAdapter{agent: Codex}, "a", new(int)}}
	for arg, want := range map[string]error{"a111": ErrUnreadable, "zz": ErrUnreadable, "b333": ErrNotFound, "b222": nil} {
		scanner := newScanner(func() *proc.Table { return proctest.NewTable() }, homeless, whole)
		if _, err := scanner.Find(t.Context(), arg, nil, ReadOptions{}); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", arg, err, want)
		}
	}
}

// One ID may be stored in two homes, of sessions in one directory: then the home tells which is meant.
func TestAnArgumentNamesAHome(t *testing.T) {
	two := []Session{{Record: &Record{ID: "x", Dir: "/w", Home: "/h"}}, {Record: &Record{ID: "x", Dir: "/w", Home: "/other"}}}
	for arg, want := range map[string]int{"x": 2, "x@/w": 2, "x@/h": 1, "x@/other": 1, "x@/nowhere": 0} {
		a, err := parseArgument(arg)
		if got := a.filter(slices.Clone(two)); err != nil || len(got) != want {
			t.Errorf("%s means %d sessions (%v), want %d", arg, len(got), err, want)
		}
	}
}
