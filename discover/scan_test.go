package discover

import (
	"context"
	"errors"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentctl/proc"
	"agentctl/tests/proctest"
)

// testAdapter is an adapter whose storage and claims are fields.
type testAdapter struct {
	Defaults
	homes     []Home // without them, one of ours
	agent     Agent
	claims    []Claim
	ofStopped []Claim // what ClaimsOf returns
	records   []Record
	faults    []error
	// opened counts the sessions whose content was read; onRead is called before each batch.
	opened *[]string
	onRead func()
}

func (m testAdapter) Name() Agent { return m.agent }
func (m testAdapter) Homes(HomeSources, *proc.Table) []Home {
	if m.homes != nil {
		return slices.Clone(m.homes)
	}
	return []Home{{Dir: "/h", FromUser: true}}
}

func (m testAdapter) MarkerKeys() []string {
	return []string{"MARK", "MARK_ROOT", "MARK_PID", "MARK_LASTS"}
}

func (m testAdapter) IsAgentProcess(p proc.Process) bool { return p.Name == "agent" }

func (m testAdapter) ReadMarker(env func(string) string) (EnvMarker, bool) {
	pid, _ := strconv.Atoi(env("MARK_PID"))
	marker := EnvMarker{Session: env("MARK"), Root: env("MARK_ROOT"), PID: pid, OutlivesSession: env("MARK_LASTS") != ""}
	return marker, marker != EnvMarker{}
}

func (m testAdapter) Claims(context.Context, *proc.Table, []Home) ([]Claim, error) {
	return m.claims, errors.Join(m.faults...)
}

func (m testAdapter) ClaimsOf(_ context.Context, _ *proc.Table, _ []Home, ids map[string]bool) []Claim {
	if !slices.ContainsFunc(m.ofStopped, func(c Claim) bool { return ids[c.Session] }) {
		return nil
	}
	return m.ofStopped
}

func (m testAdapter) Entries(_ context.Context, homes []Home, q EntryFilter) ([]Entry, error) {
	var out []Entry
	for _, r := range m.records {
		byRef := len(q.Refs) == 0 || slices.ContainsFunc(q.Refs, func(f Ref) bool { return f.ID == r.ID })
		byHome := m.homes == nil || slices.ContainsFunc(homes, func(h Home) bool { return h.Dir == r.Home })
		if byRef && byHome && strings.HasPrefix(r.ID, q.ID) && !r.Updated.Before(q.Since) {
			out = append(out, Entry{Agent: m.agent, ID: r.ID, Path: r.Path, Home: r.Home, Updated: r.Updated})
		}
	}
	return out, nil
}

func (m testAdapter) Read(_ context.Context, entries []Entry, _ ReadOptions) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		if m.onRead != nil {
			m.onRead()
		}
		for _, e := range entries {
			for _, r := range m.records {
				if r.ID == e.ID && r.Path == e.Path {
					if m.opened != nil {
						*m.opened = append(*m.opened, r.ID)
					}
					if !yield(r, nil) {
						return
					}
				}
			}
		}
	}
}

func at(minute int) time.Time { return time.Unix(int64(minute)*60, 0).UTC() }

func record(agent Agent, id string, minute int) Record {
	return Record{Agent: agent, ID: id, Path: "/p/" + id, Home: "/h", Dir: "/w", Updated: at(minute), Turn: Turn{State: TurnDone}}
}

func newScanner(table func() *proc.Table, adapters ...Adapter) *Scanner {
	return &Scanner{
		Adapters:    adapters,
		HomeSources: func(Agent) HomeSources { return HomeSources{Getenv: func(string) string { return "" }} },
		ReadTable:   func(context.Context, bool) (*proc.Table, error) { return table(), nil },
	}
}

func idsAndStatuses(sessions []Session) string {
	var out []string
	for _, s := range sessions {
		out = append(out, s.ID+":"+string(s.Status))
	}
	return strings.Join(out, " ")
}

func exactClaim(id string, pid int) Claim {
	return Claim{Agent: Codex, Process: proc.ID{PID: pid, Birth: "now"}, Session: id, Path: "/p/" + id, Strength: Exact, Kind: "lock"}
}

func TestListShowsLiveSessionsAndAllShowsStored(t *testing.T) {
	child := record(Codex, "kid", 9)
	child.Parent = "old"
	m := testAdapter{agent: Codex, claims: []Claim{exactClaim("live", 7)}, records: []Record{
		record(Codex, "live", 1), record(Codex, "old", 5), record(Codex, "older", 3), child,
	}}
	scanner := newScanner(func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }, m)
	for _, c := range []struct {
		sel  SessionFilter
		want string
	}{
		{SessionFilter{}, "live:idle"},
		{SessionFilter{IncludeStopped: true}, "live:idle old:stopped older:stopped"},
		{SessionFilter{IncludeStopped: true, Subagents: true}, "live:idle kid:stopped old:stopped older:stopped"},
		{SessionFilter{IncludeStopped: true, Since: at(4)}, "live:idle old:stopped"},
		{SessionFilter{IncludeStopped: true, Limit: 2}, "old:stopped older:stopped"},
		{SessionFilter{IncludeStopped: true, Limit: 3}, "live:idle old:stopped older:stopped"},
		{SessionFilter{IncludeStopped: true, Statuses: []Status{Stopped}, Limit: 1}, "old:stopped"},
		{SessionFilter{IncludeStopped: true, Condition: func(s Session) bool { return s.ID == "older" }, Limit: 1}, "older:stopped"},
		{SessionFilter{IncludeStopped: true, Agents: []Agent{OpenCode}}, ""},
	} {
		r, err := scanner.List(t.Context(), c.sel)
		if got := idsAndStatuses(r.Sessions); err != nil || got != c.want {
			t.Errorf("%+v: got %q, %v; want %q", c.sel, got, err, c.want)
		}
	}
}

// Sessions are read several times: with a limit, or from the homes that only processes name.
func TestClaimsOfStoppedSessionsThatAreReadLater(t *testing.T) {
	m := testAdapter{agent: Codex, ofStopped: []Claim{exactClaim("old", 7)}, records: []Record{record(Codex, "new", 5), record(Codex, "old", 1)}}
	scanner := newScanner(func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }, m)
	r, err := scanner.List(t.Context(), SessionFilter{IncludeStopped: true, Statuses: []Status{Idle}, Limit: 1})
	if got := idsAndStatuses(r.Sessions); err != nil || got != "old:idle" {
		t.Errorf("got %q, %v", got, err)
	}
}

func TestSuspendedProcess(t *testing.T) {
	m := testAdapter{agent: Codex, claims: []Claim{exactClaim("live", 7)}, records: []Record{record(Codex, "live", 1)}}
	scanner := newScanner(func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'T')) }, m)
	r, err := scanner.List(t.Context(), SessionFilter{})
	if err != nil || len(r.Sessions) != 1 || r.Sessions[0].Meta["suspended"] != true {
		t.Errorf("%+v, %v", r.Sessions, err)
	}
}

// What was cut off when the machine went down was last active before it has started again.
func TestSinceBoot(t *testing.T) {
	cut := func(id string, at time.Time) Record {
		r := record(Codex, id, 1)
		r.Updated, r.Turn = at, Turn{State: TurnOpen}
		return r
	}
	boot := at(1)
	aborted, done := cut("aborted", boot.Add(-72*time.Hour)), cut("done", boot.Add(-72*time.Hour))
	aborted.Turn.State, done.Turn.State = TurnInterrupted, TurnDone
	closed := cut("closed", boot.Add(-91*time.Hour)) // its terminal was, and it has recorded that
	closed.Turn = Turn{State: TurnInterrupted, Cut: true}
	m := testAdapter{agent: Codex, ofStopped: []Claim{{Agent: Codex, Session: "done", LeftBehind: true}}, records: []Record{
		cut("since", boot.Add(time.Minute)), cut("last-day", boot.Add(-90*time.Hour)), closed, cut("older", boot.Add(-97*time.Hour)), aborted, done,
	}}
	scanner := newScanner(proc.EmptyTable, m)
	r, err := scanner.List(t.Context(), SessionFilter{IncludeStopped: true, Since: boot, SinceBoot: true})
	if got := idsAndStatuses(r.Sessions); err != nil || got != "since:stopped done:stopped last-day:stopped closed:stopped" {
		t.Errorf("got %q, %v", got, err)
	}
	for _, s := range r.Sessions {
		if s.WasOpen() != (s.ID == "done") || (s.CutOff() == nil) != (s.ID == "done") {
			t.Errorf("%s: open %v, cut off in %v", s.ID, s.WasOpen(), s.CutOff())
		}
	}
}

// A process that is examined because of a session that seemed stopped may run another session, which was not read.
func TestOtherSessionOfALateProcess(t *testing.T) {
	newer, old := record(Codex, "newer", 2), record(Codex, "old", 1)
	m := testAdapter{agent: Codex, ofStopped: []Claim{exactClaim("newer", 7), exactClaim("old", 7)}, records: []Record{newer, old}}
	for i, r := range m.records {
		m.ofStopped[i].Path, m.ofStopped[i].Shared = r.Path, true
	}
	scanner := newScanner(func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }, m)
	r, err := scanner.List(t.Context(), SessionFilter{IncludeStopped: true, Since: newer.Updated})
	if err != nil || len(r.Sessions) != 2 || slices.ContainsFunc(r.Sessions, func(s Session) bool { return s.Updated.IsZero() }) {
		t.Errorf("%+v, %v", r.Sessions, err)
	}
}

func TestListOpensNoMoreThanItShows(t *testing.T) {
	var opened []string
	m := testAdapter{agent: Codex, opened: &opened, claims: []Claim{exactClaim("s0", 7)}}
	for i := range 100 {
		m.records = append(m.records, record(Codex, "s"+string(rune('0'+i/10))+string(rune('0'+i%10)), i))
	}
	m.records = append(m.records, record(Codex, "s0", 0))
	scanner := newScanner(func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }, m)
	if r, err := scanner.List(t.Context(), SessionFilter{IncludeStopped: true, Limit: 20}); err != nil || len(r.Sessions) != 20 || len(opened) > 21 {
		t.Errorf("%d rows, %d opened, %v", len(r.Sessions), len(opened), err)
	}
	opened = nil
	if r, err := scanner.List(t.Context(), SessionFilter{}); err != nil || len(r.Sessions) != 1 || len(opened) != 1 {
		t.Errorf("live list: %d rows, opened %v, %v", len(r.Sessions), opened, err)
	}
}

// TestListReadsProcessesLast starts the session's process while the storage is being read: had the processes been
// read first, a live session would be shown stopped.
func TestListReadsProcessesLast(t *testing.T) {
	started := false
	m := testAdapter{agent: Codex, claims: []Claim{exactClaim("a", 7)}, records: []Record{record(Codex, "a", 1)}}
	m.onRead = func() { started = true }
	scanner := newScanner(func() *proc.Table {
		if started {
			return proctest.NewTable(fakeProcess(7, "now", 'S'))
		}
		return proctest.NewTable()
	}, m)
	for name, ask := range map[string]func() (Result, error){
		"list": func() (Result, error) { return scanner.List(t.Context(), SessionFilter{IncludeStopped: true}) },
		"find": func() (Result, error) { return scanner.Find(t.Context(), "a", nil, ReadOptions{}) },
	} {
		started = false
		if r, err := ask(); err != nil || idsAndStatuses(r.Sessions) != "a:idle" {
			t.Errorf("%s: %s, %v", name, idsAndStatuses(r.Sessions), err)
		}
	}
}

// TestFaultsOfOneAgentLeaveTheOthers: S6.
func TestFaultsOfOneAgentLeaveTheOthers(t *testing.T) {
	bad := testAdapter{agent: ClaudeCode, faults: []error{&Warning{ClaudeCode, "/x", errors.New("no")}, errors.New("damaged")}}
	good := testAdapter{agent: Codex, claims: []Claim{exactClaim("live", 7)}, records: []Record{record(Codex, "live", 1)}}
	scanner := newScanner(func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }, bad, good)
	for _, all := range []bool{false, true} {
		r, err := scanner.List(t.Context(), SessionFilter{IncludeStopped: all})
		if err != nil || idsAndStatuses(r.Sessions) != "live:idle" || len(r.Warnings) != 2 {
			t.Errorf("%s, %v, %v", idsAndStatuses(r.Sessions), r.Warnings, err)
		}
	}
}

func TestFind(t *testing.T) {
	kid := record(Codex, "abkid", 9)
	kid.Parent = "abc"
	twin := record(ClaudeCode, "dup", 1)
	twin2 := twin
	twin2.Path, twin2.Dir = "/p/other", t.TempDir()
	m := testAdapter{agent: Codex, claims: []Claim{exactClaim("abc", 7), exactClaim("new", 7)}, records: []Record{
		record(Codex, "abc", 1), record(Codex, "abcd", 2), record(Codex, "xyz", 3), kid,
	}}
	scanner := newScanner(func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }, m,
		testAdapter{agent: ClaudeCode, records: []Record{twin, twin2}})
	for arg, want := range map[string]string{
		"xyz": "xyz:stopped", "xy": "xyz:stopped", "abc": "abc:idle", "abcd": "abcd:stopped",
		"abk": "abkid:stopped", "new": "new:running", "n": "new:running",
		"pid:7": "abc:idle new:running", "dup@" + twin2.Dir: "dup:stopped",
	} {
		r, err := scanner.Find(t.Context(), arg, nil, ReadOptions{})
		slices.SortFunc(r.Sessions, func(a, b Session) int { return strings.Compare(a.ID, b.ID) })
		if got := idsAndStatuses(r.Sessions); err != nil || got != want {
			t.Errorf("%s: got %q, %v; want %q", arg, got, err, want)
		}
	}
	for _, arg := range []string{"", "@/w", "zz", "pid:8", "pid:0", "pid:x", "xyz@/elsewhere"} {
		if _, err := scanner.Find(t.Context(), arg, nil, ReadOptions{}); !errors.Is(err, ErrNotFound) {
			t.Errorf("%q: %v, want not found", arg, err)
		}
	}
	for arg, n := range map[string]int{"ab": 2, "dup": 2} {
		var ambiguous *AmbiguousError
		if _, err := scanner.Find(t.Context(), arg, nil, ReadOptions{}); !errors.As(err, &ambiguous) || len(ambiguous.Candidates) != n {
			t.Errorf("%q: %v, want %d candidates", arg, err, n)
		}
	}
}

func TestGroupIsReadFromTheProcessOrTheBranch(t *testing.T) {
	f := fakeProcess(7, "now", 'S')
	f.Environ = map[string]string{GroupEnv: "g-1"}
	dead := record(Codex, "dead", 1)
	dead.Branch = "try/g-2/cc"
	m := testAdapter{agent: Codex, claims: []Claim{exactClaim("live", 7)}, records: []Record{record(Codex, "live", 1), dead}}
	r, err := newScanner(func() *proc.Table { return proctest.NewTable(f) }, m).List(t.Context(), SessionFilter{IncludeStopped: true})
	if err != nil || len(r.Sessions) != 2 || r.Sessions[0].Group != "g-1" || r.Sessions[1].Group != "g-2" {
		t.Errorf("%+v, %v", r.Sessions, err)
	}
}

// Without a process table, stored sessions are shown, and whether they live is unknown.
func TestWithoutAProcessTableNothingIsCalledStopped(t *testing.T) {
	m := testAdapter{agent: Codex, records: []Record{record(Codex, "a", 1), record(Codex, "b", 2)}}
	scanner := newScanner(nil, m)
	scanner.ReadTable = func(context.Context, bool) (*proc.Table, error) { return nil, errors.New("no /proc") }
	for name, want := range map[string]struct {
		ask  func() (Result, error)
		rows string
	}{
		"list -a": {func() (Result, error) { return scanner.List(t.Context(), SessionFilter{IncludeStopped: true}) }, "b:unknown a:unknown"},
		"list":    {func() (Result, error) { return scanner.List(t.Context(), SessionFilter{}) }, ""},
		"status":  {func() (Result, error) { return scanner.Find(t.Context(), "a", nil, ReadOptions{}) }, "a:unknown"},
	} {
		r, err := want.ask()
		if err != nil || idsAndStatuses(r.Sessions) != want.rows || len(r.Warnings) != 1 || !r.ProcessesUnknown {
			t.Errorf("%s: %s, %v, %v; want %s, a warning, and that it says so", name, idsAndStatuses(r.Sessions), r.Warnings, err, want.rows)
		}
	}
}

// A process that could not be read may run any session: none is called stopped. What other processes run is known.
func TestWithAnUnreadProcessNothingIsCalledStopped(t *testing.T) {
	m := testAdapter{agent: Codex, claims: []Claim{exactClaim("live", 7)}, records: []Record{record(Codex, "live", 1), record(Codex, "a", 2)}}
	r, err := newScanner(func() *proc.Table {
		return proctest.NewFailedTable(errors.New("/proc/8/stat is torn"), fakeProcess(7, "now", 'S'))
	}, m).List(t.Context(), SessionFilter{IncludeStopped: true})
	if got := idsAndStatuses(r.Sessions); err != nil || got != "live:idle a:unknown" || len(r.Warnings) != 1 || !r.ProcessesUnknown {
		t.Errorf("%s, %v, %v", got, r.Warnings, err)
	}
}

// TestAnUnreadableAgentIsUnknownWithAWarning: exit code 6 comes of the warning.
func TestAnUnreadableAgentIsUnknownWithAWarning(t *testing.T) {
	m := testAdapter{agent: Codex, claims: []Claim{{Agent: Codex, Process: proc.ID{PID: 7, Birth: "now"}, Unreadable: "permission denied"}}}
	r, err := newScanner(func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }, m).List(t.Context(), SessionFilter{})
	if err != nil || idsAndStatuses(r.Sessions) != ":unknown" || len(r.Warnings) != 1 {
		t.Errorf("%s, %v, %v", idsAndStatuses(r.Sessions), r.Warnings, err)
	}
}

// A cancelled scan returns no sessions: those that it has not read could seem stopped, or missing.
func TestFindReturnsNothingWhenInterrupted(t *testing.T) {
	for _, arg := range []string{"abc", "pid:7"} {
		ctx, cancel := context.WithCancel(t.Context())
		m := testAdapter{agent: Codex, claims: []Claim{exactClaim("abc", 7)}, records: []Record{record(Codex, "abc", 1)}, onRead: cancel}
		scanner := newScanner(func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) }, m)
		if r, err := scanner.Find(ctx, arg, nil, ReadOptions{}); !errors.Is(err, context.Canceled) || len(r.Sessions) > 0 {
			t.Errorf("%s: %s, %v", arg, idsAndStatuses(r.Sessions), err)
		}
	}
}

// Agents of these tests.
const (
	ClaudeCode Agent = "claude-code"
	Codex      Agent = "codex"
	OpenCode   Agent = "opencode"
)

// watchPathsAdapter is an adapter that names one file for each session.
type watchPathsAdapter struct{ Adapter }

func (watchPathsAdapter) Name() Agent                                  { return OpenCode }
func (watchPathsAdapter) WatchPaths(context.Context, Session) []string { return []string{"file"} }
func (watchPathsAdapter) MatchesBinary(string) bool                    { return false }

// No adapter is asked for the files of a process whose home is not ours: it would open them.
func TestAForeignHomeIsNotWatched(t *testing.T) {
	scanner := &Scanner{Adapters: []Adapter{watchPathsAdapter{}}}
	for _, trust := range []Trust{TrustForeign, TrustSeen, TrustOurs} {
		for _, path := range []string{"", "a"} {
			record := Record{Agent: OpenCode, Home: "home", Path: path}
			files := scanner.WatchPaths(t.Context(), Session{Record: &record, Trust: trust})
			if want := path != "" || trust != TrustForeign; (len(files) > 0) != want {
				t.Errorf("%s, path %q: %q", trust, path, files)
			}
		}
	}
}

// renamedClientAdapter is of an agent whose server runs a session that a client of another program's name shows: only a thorough table
// has its claim.
type renamedClientAdapter struct{ testAdapter }

func (a renamedClientAdapter) Claims(_ context.Context, table *proc.Table, _ []Home) ([]Claim, error) {
	server := exactClaim("a", 1)
	server.Shared = true
	claims := []Claim{server, {Agent: Codex, Process: server.Process, Shared: true}}
	if table.IsThorough() {
		client := exactClaim("a", 2)
		client.Client = true
		claims = append(claims, client)
	}
	return claims, nil
}

// Whoever waits for a session that a server keeps open is told that nobody shows it only after every process was asked.
func TestSnapshotLooksForClientsThoroughly(t *testing.T) {
	scanner := newScanner(func() *proc.Table {
		return proctest.NewTable(fakeProcess(1, "now", 'S'), fakeProcess(2, "now", 'S'))
	}, renamedClientAdapter{testAdapter{agent: Codex, records: []Record{record(Codex, "a", 1)}}})
	r := record(Codex, "a", 1)
	snap, err := scanner.Snapshot(t.Context(), SnapshotRequest{Follow: []Session{{Record: &r}}})
	if err != nil || len(snap.Followed) != 1 || len(snap.Followed[0].Clients) != 1 || snap.Followed[0].Released() {
		t.Errorf("%+v, %v", snap.Followed, err)
	}
}

// Of two copies that nothing stored tells apart, the one that a process runs is the session, once, whichever was listed first.
func TestACopyThatRunsIsInOneBatch(t *testing.T) {
	for _, live := range []string{"/p/a.db", "/p/b.db"} {
		var records []Record
		for _, path := range []string{"/p/a.db", "/p/b.db"} {
			r := record(OpenCode, "one", 5)
			r.Path, r.Created = path, at(1)
			records = append(records, r)
		}
		claim := exactClaim("one", 7)
		claim.Agent, claim.Path = OpenCode, live
		scanner := newScanner(func() *proc.Table { return proctest.NewTable(fakeProcess(7, "now", 'S')) },
			testAdapter{agent: OpenCode, claims: []Claim{claim}, records: records})
		var got []Session
		if _, err := scanner.ListBatches(t.Context(), BatchFilter{}, func(r Result) bool {
			got = append(got, r.Sessions...)
			return true
		}); err != nil {
			t.Error(err)
		}
		if len(got) != 1 || got[0].Path != live || !got[0].Status.Live() {
			t.Errorf("%s is live: %+v", live, got)
		}
	}
}

func TestFactsWithoutEmpty(t *testing.T) {
	for _, facts := range []Facts{nil, {}, {"a": "", "b": nil}} {
		if got := facts.WithoutEmpty().With("none", nil); len(got) > 0 {
			t.Errorf("%v: %v", facts, got)
		}
	}
	if got := (Facts{"a": 1, "b": "", "c": false}).WithoutEmpty(); !maps.Equal(got, Facts{"a": 1, "c": false}) {
		t.Error(got)
	}
}
