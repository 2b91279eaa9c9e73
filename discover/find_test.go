package discover

import (
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/proc"
	"agentctl/tests/must"
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

// storeFiles makes files below a directory, each with the same session in it, and returns their records.
func storeFiles(t *testing.T, homes []string, id string) (records []Record) {
	t.Helper()
	for i, home := range homes {
		path := filepath.Join(home, "sessions", id)
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(home), 0o600)))
		r := record(Codex, id, 10+i)
		r.Path, r.Home, r.Created = path, home, at(1)
		records = append(records, r)
	}
	return records
}

func homesOf(dirs ...string) (homes []Home) {
	for _, dir := range dirs {
		homes = append(homes, Home{Dir: dir, FromUser: true})
	}
	return homes
}

// A transcript with two names is one session, under the home that was named first, whatever home its process uses.
func TestOneFileIsOneSession(t *testing.T) {
	dir := t.TempDir()
	ours, work := filepath.Join(dir, "ours"), filepath.Join(dir, "work")
	for name, join := range map[string]func() error{
		"linked folder": func() error {
			return errors.Join(os.MkdirAll(work, 0o700), os.Symlink(filepath.Join(ours, "sessions"), filepath.Join(work, "sessions")))
		},
		"hard link": func() error {
			return errors.Join(os.MkdirAll(filepath.Join(work, "sessions"), 0o700),
				os.Link(filepath.Join(ours, "sessions/a"), filepath.Join(work, "sessions/a")))
		},
	} {
		first := storeFiles(t, []string{ours}, "a")[0]
		must.Do(t, join())
		second := first
		second.Home, second.Path = work, filepath.Join(work, "sessions/a")
		claim := exactClaim("a", 7)
		claim.Home, claim.Path = work, second.Path
		table := func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }
		for _, live := range []bool{false, true} {
			m := testAdapter{agent: Codex, homes: homesOf(ours, work), records: []Record{first, second}}
			if live {
				m.claims = []Claim{claim}
			}
			scanner := newScanner(table, m)
			for _, arg := range []string{"", "a", "a@" + ours, "a@" + work, "a@" + first.Path} {
				r, err := scanner.Find(t.Context(), arg, nil, ReadOptions{})
				if arg == "" {
					r, err = scanner.List(t.Context(), SessionFilter{IncludeStopped: !live})
				}
				if err != nil || len(r.Sessions) != 1 || r.Sessions[0].Home != ours || r.Sessions[0].Path != first.Path || r.Sessions[0].Status.Live() != live {
					t.Errorf("%s, live %v, %q: %+v, %v", name, live, arg, r.Sessions, err)
				}
			}
			usage := scanner.newScan(nil)
			if found := usage.listEntries(t.Context(), usage.homes, EntryFilter{}); len(slices.Concat(found...)) != 1 {
				t.Errorf("%s: entries %+v, want one", name, found)
			}
		}
		must.Do(t, os.RemoveAll(work))
	}
}

// What belongs to a copy is counted for the session that it is a copy of, also where another session has its ID.
func TestTopSessionOfACopy(t *testing.T) {
	of := func(path string, created, updated int64) Record {
		return Record{Agent: Codex, ID: "a", Path: path, Created: time.Unix(created, 0), Updated: time.Unix(updated, 0)}
	}
	records := []Record{of("/h/1", 1, 9), of("/h/1-backup", 1, 8), of("/h/2", 2, 9)}
	if tops := topSessions(records, mainRecords(records)); !slices.Equal(tops, []int{0, 0, 2}) {
		t.Errorf("%v", tops)
	}
}

// Of two files with the same session, such as a backup beside a database, the newer one is the session, unless a process runs the other.
func TestCopiesOfASession(t *testing.T) {
	dir := t.TempDir()
	old, newer := filepath.Join(dir, "old"), filepath.Join(dir, "newer")
	records := storeFiles(t, []string{old, newer}, "a")
	claim := exactClaim("a", 7)
	claim.Path, claim.Home = records[0].Path, old
	table := func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }
	for _, live := range []bool{false, true} {
		m := testAdapter{agent: Codex, homes: homesOf(old, newer), records: slices.Clone(records)}
		want, other := records[1].Path, records[0].Path
		if live {
			m.claims, want, other = []Claim{claim}, other, want
		}
		scanner := newScanner(table, m)
		r, err := scanner.List(t.Context(), SessionFilter{IncludeStopped: true})
		if err != nil || len(r.Sessions) != 1 || r.Sessions[0].Path != want || !reflect.DeepEqual(r.Sessions[0].Meta["copies"], []string{other}) {
			t.Errorf("live %v: %+v, %v; want %s", live, r.Sessions, err, want)
		}
		for arg, path := range map[string]string{"a": want, "a@" + old: records[0].Path, "a@" + records[1].Path: records[1].Path} {
			if r, err := scanner.Find(t.Context(), arg, nil, ReadOptions{}); err != nil || len(r.Sessions) != 1 || r.Sessions[0].Path != path {
				t.Errorf("live %v, %s: %+v, %v; want %s", live, arg, r.Sessions, err, path)
			}
		}
	}
	scan := newScanner(table, testAdapter{agent: Codex, homes: homesOf(old, newer), records: records}).newScan(nil)
	found, older := scan.listSince(t.Context(), at(0), true)
	if all := slices.Concat(found...); len(all) != 1 || all[0].Path != records[1].Path || older != 0 {
		t.Errorf("for usage: %+v", all)
	}
	// One ID that a user has given to two sessions: they began at different times.
	records[1].Created = at(2)
	r, err := newScanner(table, testAdapter{agent: Codex, homes: homesOf(old, newer), records: records}).List(t.Context(), SessionFilter{IncludeStopped: true})
	if err != nil || len(r.Sessions) != 2 {
		t.Errorf("two sessions with one ID: %+v, %v", r.Sessions, err)
	}
}

// Of copies in one home, ID@HOME means the session, and of equal ones that is the one with the shorter path.
func TestEqualCopiesInOneHome(t *testing.T) {
	dir := t.TempDir()
	records := storeFiles(t, []string{filepath.Join(dir, "home", "backup-of-it"), filepath.Join(dir, "home", "it"), filepath.Join(dir, "other")}, "a")
	homes := homesOf(filepath.Join(dir, "home"), filepath.Join(dir, "other"))
	for i := range records {
		records[i].Updated, records[i].Home = at(5), homes[0].Dir
	}
	records[2].Updated, records[2].Home = at(6), homes[1].Dir
	scanner := newScanner(proc.EmptyTable, testAdapter{agent: Codex, homes: homes, records: records})
	for arg, want := range map[string]string{
		"a": records[2].Path, "a@" + homes[0].Dir: records[1].Path, "a@" + records[0].Path: records[0].Path, "a@" + homes[1].Dir: records[2].Path,
	} {
		if r, err := scanner.Find(t.Context(), arg, nil, ReadOptions{}); err != nil || len(r.Sessions) != 1 || r.Sessions[0].Path != want {
			t.Errorf("%s: %+v, %v; want %s", arg, r.Sessions, err, want)
		}
	}
	r, err := scanner.List(t.Context(), SessionFilter{IncludeStopped: true, Limit: 1})
	if copies, _ := r.Sessions[0].Meta[copiesKey].([]string); err != nil || r.Sessions[0].Path != records[2].Path || len(copies) != 2 {
		t.Errorf("the newest only: %+v, %v", r.Sessions, err)
	}
}
