package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/internal/terminal"
	"agentctl/proc"
	"agentctl/tests/must"
)

// tell is what a watch is told at a time, shows what it shows then.
func (w *Table) tell(at time.Time, rows ...discover.Session) {
	w.update(0, tableSource{sessions: SessionObjects(rows)}, at)
}

func (w *Table) shows(at time.Time) string {
	var out []string
	list, _, _ := w.Sessions(at)
	for _, s := range list {
		out = append(out, s.Name()+":"+s.Status)
	}
	return strings.Join(out, " ")
}

// What stops while it is watched stays for ten minutes, unless it lives again; the first rows are those that need the
// user.
func TestTable(t *testing.T) {
	row := func(id string, status discover.Status, age time.Duration) discover.Session {
		return discover.Session{Record: &discover.Record{Agent: "codex", ID: id, Updated: Now().Add(-age)}, Status: status}
	}
	w := NewTable(nil)
	if _, _, known := w.Sessions(Now()); known {
		t.Error("there is an answer before the first look")
	}
	for _, step := range []struct {
		after time.Duration
		rows  []discover.Session
		want  string
	}{
		{0, []discover.Session{row("a", discover.Running, 0), row("b", discover.Waiting, time.Hour)}, "b:waiting a:running"},
		{time.Second, []discover.Session{row("a", discover.Stopped, 0), row("b", discover.Waiting, time.Hour)}, "b:waiting a:stopped"},
		{2 * time.Second, []discover.Session{row("b", discover.Running, 0)}, "a:stopped b:running"},
		{3 * time.Second, []discover.Session{row("b", discover.Running, 0), row("a", discover.Idle, 0)}, "a:idle b:running"},
		{4 * time.Second, []discover.Session{row("b", discover.Running, 0)}, "b:running"},
		{5 * time.Second, []discover.Session{row("b", discover.Stopped, 0)}, "b:stopped"},
		{6 * time.Second, nil, "b:stopped"},
		{11 * time.Minute, nil, ""},
	} {
		at := Now().Add(step.after)
		w.tell(at, step.rows...)
		if got := w.shows(at); got != step.want {
			t.Errorf("after %s: %q, want %q", step.after, got, step.want)
		}
		if len(w.Changed) != 1 {
			t.Error("nobody is told")
		}
	}
}

// screen is a model whose commands are recorded.
type screen struct {
	*topModel
	t   *testing.T
	ran chan string
}

// newScreen returns a model with these rows, which are not updated. A command prints its arguments.
func newScreen(t *testing.T, sessions ...discover.Session) *screen {
	f, _ := testEnv(t)
	call, err := f.NewCall("top", &CommonFlags{NoColor: true}, nil)
	must.Do(t, err)
	m := &screen{newModel(call, NewTable(nil)), t, make(chan string, 8)}
	m.runner = runner{env: f, verb: func(_ context.Context, env Env, args ...string) int {
		fmt.Fprintf(env.Stdout, "ran %q\n", args)
		m.ran <- strings.Join(args, " ")
		return len(args) % 2
	}}
	m.ctx = t.Context()
	m.known, m.paused = true, true
	for _, s := range SessionObjects(sessions) {
		m.rows = append(m.rows, row{key: rowKeyOf(&s), s: s})
	}
	if len(m.rows) > 0 {
		m.selected = m.rows[0].key
	}
	return m
}

func (m *screen) types(keys ...terminal.Key) (last terminal.Request) {
	for _, k := range keys {
		last = m.typed(k)
	}
	return last
}

func (m *screen) shown(columns, rows int) string { return strings.Join(m.frame(columns, rows), "\n") }

func session(id string, status discover.Status, dir, title string) discover.Session {
	return discover.Session{Record: &discover.Record{Agent: "codex", ID: id, Path: "/s/" + id, Dir: dir, Title: title, Updated: Now()}, Status: status}
}

// A frame fits every size, whatever is shown, and no line of it has a control character.
func TestFrameFits(t *testing.T) {
	var sessions []discover.Session
	for i := range 50 {
		sessions = append(sessions, session(fmt.Sprintf("id-%d", i), discover.Running, "/w/目录", "\x1b[2J\x07漢字 \u202etitle"))
	}
	for _, keys := range [][]terminal.Key{{}, {'?'}, {'i'}, {'/', 'x'}, {'K'}, {'m', '漢', terminal.Backspace}, {'s', ' ', ' '}, {terminal.End}} {
		m := newScreen(t, sessions...)
		m.types(keys...)
		for _, size := range [][2]int{{1, 1}, {10, 2}, {60, 15}, {80, 24}, {169, 40}, {170, 40}, {300, 100}} {
			lines := m.frame(size[0], size[1])
			if len(lines) != size[1] {
				t.Errorf("%v %v: %d lines", keys, size, len(lines))
			}
			for _, line := range lines {
				if got := render.FitLine(line, size[0]); strings.TrimRight(got, " ") != strings.TrimRight(line, " ") || strings.ContainsAny(line, "\x1b\x07\u202e") {
					t.Errorf("%v %v: %q", keys, size, line)
				}
			}
		}
	}
}

// Keys move the selection within the rows, and the rows around it are shown.
func TestMove(t *testing.T) {
	var sessions []discover.Session
	for i := range 30 {
		sessions = append(sessions, session(fmt.Sprintf("id-%02d", i), discover.Running, "/w", fmt.Sprintf("title %02d", i)))
	}
	m := newScreen(t, sessions...)
	for _, step := range []struct {
		key  terminal.Key
		want int
	}{
		{'k', 0}, {'j', 1}, {terminal.Down, 2}, {'G', 29}, {'j', 29}, {terminal.Up, 28}, {'g', 0}, {terminal.PageDown, 4}, {terminal.PageUp, 0},
	} {
		m.shown(100, 12) // nine rows
		if m.types(step.key); m.index() != step.want {
			t.Fatalf("%v: row %d, want %d", step.key, m.index(), step.want)
		}
		if text := m.shown(100, 12); !strings.Contains(text, "\n>") || !strings.Contains(text, fmt.Sprintf("title %02d", step.want)) {
			t.Errorf("%v:\n%s", step.key, text)
		}
	}
}

// The pane begins below the last row, or beside all of them behind a line at one column, however wide the characters are.
func TestPaneEdges(t *testing.T) {
	m := newScreen(t, session("aaaa", discover.Running, "/w", "漢字 テスト"), session("bbbb", discover.Idle, "/w", "plain"))
	m.types('i')
	lines := m.frame(80, 24)
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "── status: $ agentctl status aaaa ──") })
	if i != 4 || render.DisplayWidth(lines[i]) != 80 { // totals, header, two rows
		t.Errorf("the pane begins in line %d:\n%s", i, strings.Join(lines, "\n"))
	}
	for _, line := range m.frame(200, 30)[1:29] {
		if left, _, ok := strings.Cut(line, "│"); !ok || render.DisplayWidth(left) != 121 {
			t.Errorf("%q", line)
		}
	}
}

// The first line leaves out what there is no room for, the least important first.
func TestHeader(t *testing.T) {
	m := newScreen(t, session("aaaa", discover.Running, "/w", ""))
	m.filter = "漢字"
	for width, want := range map[int]string{
		10: "1 running", 40: "1 running  ·  PAUSED  ·  filter: 漢字", 50: "1 running  ·  PAUSED  ·  filter: 漢字  ·  0% cpu",
	} {
		if got := m.frame(width, 15)[0]; got != want {
			t.Errorf("%d: %q, want %q", width, got, want)
		}
	}
}

// The lines below the first have the newest limits with their resets, where there is room.
func TestHeaderLimits(t *testing.T) {
	s := session("aaaa", discover.Running, "/w", "")
	s.Quotas = []discover.Quota{{Name: "primary", Used: new(83.0), Resets: Now().Add(time.Hour), Time: Now().Add(-time.Minute)}}
	m := newScreen(t, s)
	if got, want := m.frame(120, 20)[1], "codex: primary 83% used, resets 2026-11-20 13:00 (in 1h), noted 1m ago"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	if text := m.shown(120, 19); strings.Contains(text, "primary") {
		t.Error(text)
	}
}

// What is typed ends before the edge, and the label with its colon or question.
func TestPromptLine(t *testing.T) {
	for _, tc := range []struct {
		p    prompt
		want string
	}{
		{prompt{label: "filter: ", text: []rune("ab ")}, "filter: ab ▏"},
		{prompt{label: "message to codex 0123456789: ", text: []rune("漢字漢字漢字漢字漢字漢字漢字")}, "message to c…: 字漢字漢字漢字▏"},
		{prompt{label: "agentctl stop 0123456789 0123456789? [y/N] ", confirm: true}, "agentctl stop 012345…? [y/N] ▏"},
	} {
		got := promptLine(&tc.p, 30)
		if render.DisplayWidth(got) > 30 || got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
	}
}

// What is pasted into the table does nothing.
func TestPaste(t *testing.T) {
	m := newScreen(t, session("aaaa", discover.Running, "/w", ""))
	m.types(terminal.PasteBegin, 'K', 'y', 'q', terminal.PasteEnd)
	if text := m.shown(120, 20); m.prompt != nil || !strings.Contains(text, "what is pasted is no command") {
		t.Error(text)
	}
}

// A session without an ID is named by its process, one of two with one ID with its directory.
func TestArguments(t *testing.T) {
	unnamed := session("", discover.Idle, "/w", "")
	a, b := session("aaaa", discover.Idle, "/w/a", ""), session("aaaa", discover.Idle, "/w/b", "")
	b.Record.Path = "/s/other"
	m := newScreen(t, unnamed, a, b)
	if got := fmt.Sprint(m.arguments(m.rows)); got != "[- aaaa@/w/a aaaa@/w/b]" {
		t.Error(got)
	}
}

// All words must be there, in whatever case.
func TestMatches(t *testing.T) {
	s := session("aaaa", discover.Waiting, "/w/api", "Fix the Tests")
	s.WaitingOn = &discover.WaitingOn{Tool: "Bash", Brief: "rm -rf build"}
	obj := object.NewSession(s)
	for filter, want := range map[string]bool{
		"": true, "tests FIX": true, "codex waiting": true, "/w/api": true, "rm -rf": true, "aaaa": true, "fix web": false,
	} {
		if got := matches(&obj, filter); got != want {
			t.Errorf("%q: %v", filter, got)
		}
	}
}

// The help is closed by what opens and closes other things; any other key closes it and does what the help says.
func TestHelp(t *testing.T) {
	m := newScreen(t, session("aaaa", discover.Running, "/w", ""))
	for key, want := range map[terminal.Key]string{'?': "\n>   running", terminal.Escape: "\n>   running", terminal.Enter: "\n>   running", 't': "── processes: $", 'K': "[y/N]", 's': "sorted by cpu"} {
		m.open, m.prompt = "", nil
		m.types('?')
		if text := m.shown(120, 40); !strings.Contains(text, "show or hide the keys") {
			t.Error(text)
		}
		m.types(key)
		if text := m.shown(120, 40); strings.Contains(text, "show or hide the keys") || !strings.Contains(text, want) || key == terminal.Enter && strings.Contains(text, "peek:") {
			t.Errorf("%v:\n%s", key, text)
		}
	}
}

// Each order has what is most, or first, on top; what is not known comes last.
func TestOrders(t *testing.T) {
	n := func(v float64) *float64 { return &v }
	less := row{s: object.NewSession(session("a", discover.Idle, "/a", ""))}
	more := row{s: object.NewSession(session("b", discover.Idle, "/b", "")), load: render.Load{CPU: n(3), TokenRate: n(9), Memory: new(int64)}}
	more.s.Tokens = &object.Tokens{Context: 1, Window: 2}
	more.s.StartedAt, more.s.LastActivityAt = object.Timestamp(Now()), object.Timestamp(Now().Add(time.Hour))
	for _, o := range orders() {
		switch o.name {
		case "cpu", "memory", "tokens", "context", "started", "last":
			if o.compare(more, less) >= 0 {
				t.Error(o.name)
			}
		case "dir":
			if o.compare(less, more) >= 0 {
				t.Error(o.name)
			}
		}
	}
}

// manyKinds returns sessions of each status, in texts of all widths.
func manyKinds() (list []discover.Session) {
	for i, status := range []discover.Status{discover.Waiting, discover.Running, discover.Idle, discover.Stopped, discover.Unknown} {
		s := session(fmt.Sprintf("id-%d", i), status, "/w/目录/👩‍👩‍👧", []string{"漢字 テスト", "👍🏽 emoji", "e\u0301 combined", "🇩🇪 flag", "plain"}[i])
		if status == discover.Waiting {
			s.WaitingFor, s.WaitingOn = "permission", &discover.WaitingOn{Tool: "Bash", Brief: "rm 'ファイル' 🗑️"}
		}
		if status == discover.Stopped {
			s.Outcome, s.Error = discover.Failed, "overloaded"
		}
		list = append(list, s)
	}
	return list
}

// A screen that is too small for all parts says so, and still answers.
func TestTooSmall(t *testing.T) {
	m := newScreen(t, manyKinds()...)
	for size, want := range map[[2]int]string{
		{59, 15}: "59×15 is too small: top needs 60×15", {60, 14}: "60×14 is too small: top needs 60×15", {10, 2}: "10×2 is t…", {60, 15}: "q quit",
	} {
		if lines := m.frame(size[0], size[1]); !strings.HasSuffix(lines[len(lines)-1], want) {
			t.Errorf("%v: %q", size, lines[len(lines)-1])
		}
	}
	m.types('K')
	if text := m.shown(50, 10); !strings.HasSuffix(text, "[y/N] ▏") {
		t.Error(text)
	}
}

// What does not fit is counted below the table.
func TestTopCountsWhatIsBelow(t *testing.T) {
	var list []discover.Session
	for i := range 30 {
		list = append(list, session(fmt.Sprintf("id-%02d", i), discover.Running, "/w", "work"))
	}
	m := newScreen(t, list...)
	if text := m.shown(80, 15); strings.Count(text, "  running") != 11 || !strings.Contains(text, "\n  19 more\n") {
		t.Error(text)
	}
	if m.types('G'); strings.Contains(m.shown(80, 15), " more\n") {
		t.Error(m.shown(80, 15))
	}
}

// The question names what is stopped, and with marks how many.
func TestTopAsksWhatIsStopped(t *testing.T) {
	m := newScreen(t, manyKinds()...)
	m.types('K')
	if text := m.shown(80, 24); !strings.Contains(text, "stop codex in /w/") || !strings.Contains(text, "? [y/N]") {
		t.Error(text)
	}
	m.types('n', ' ', ' ', 'K')
	if text := m.shown(80, 24); !strings.Contains(text, "stop these 2 sessions? [y/N]") || strings.Count(text, "codex in /w/") != 2 {
		t.Error(text)
	}
	m.types('n')
	if text := m.shown(80, 24); !strings.Contains(text, "nothing was done") || strings.Contains(text, "codex in /w/") {
		t.Error(text)
	}
}

// The pane and the selected row stay in sight at each size, whichever the size was before.
func TestResize(t *testing.T) {
	var sessions []discover.Session
	for i := range 60 {
		sessions = append(sessions, session(fmt.Sprintf("id-%02d", i), discover.Running, "/w", fmt.Sprintf("title %02d", i)))
	}
	m := newScreen(t, sessions...)
	m.types('G', terminal.Enter)
	for _, size := range [][2]int{{80, 24}, {300, 100}, {60, 15}, {170, 15}, {20, 5}, {169, 100}, {60, 100}, {300, 15}} {
		text := m.shown(size[0], size[1])
		if size[1] >= 15 && !strings.Contains(text, "\n>   running") || !strings.Contains(text, "── peek: $ ag") {
			t.Errorf("%v:\n%s", size, text)
		}
	}
}

func sessionOf(host string, s discover.Session) discover.Session {
	s.Host = host
	return s
}

// One session in the stores of three machines is three rows. Each command means the session of its row.
func TestHostArguments(t *testing.T) {
	s := session("aaaaaaaa", discover.Running, "/w", "")
	unnamed := sessionOf("ana", session("", discover.Running, "/w", ""))
	unnamed.Processes = []proc.Process{{ID: proc.ID{PID: 4711}}}
	m := newScreen(t, sessionOf("ana", s), sessionOf("bob", s), sessionOf("local", s), unnamed)
	if got := fmt.Sprint(m.arguments(m.rows)); got != "[ana:aaaaaaaa bob:aaaaaaaa local:aaaaaaaa ana:pid:4711]" {
		t.Error(got)
	}
	m.types('j', ' ', ' ', 'K', 'y')
	if ran := <-m.ran; ran != "stop bob:aaaaaaaa local:aaaaaaaa" {
		t.Error(ran)
	}
	m.types(terminal.Escape, terminal.Escape, 'g', 'm')
	if text := m.shown(120, 20); !strings.Contains(text, "message to codex ana:aaaaaaaa: ") {
		t.Error(text)
	}
	m.types('x', terminal.Enter)
	if ran := <-m.ran; ran != "send -- ana:aaaaaaaa x" {
		t.Error(ran)
	}
	m.types(terminal.Escape, 'G', 'm')
	if text := m.shown(120, 20); !strings.Contains(text, "message to codex ana:pid:4711: ") {
		t.Error(text)
	}
}

// Nothing is measured here for a session of another machine, though a process here has its pid, and even its identity, and though a
// directory here has its name.
func TestSamplerOfHosts(t *testing.T) {
	table, err := proc.ReadTable(t.Context(), false)
	must.Do(t, err)
	self, ok := table.ByPID(os.Getpid())
	if !ok {
		t.Fatal("this process is not in the table")
	}
	there := session("aaaa", discover.Running, t.TempDir(), "")
	there.Processes, there.Trust = []proc.Process{self}, discover.TrustOurs
	here, other := object.NewSession(sessionOf("local", there)), object.NewSession(sessionOf("ana", there))
	s := newScreen(t).sampler
	s.sample(t.Context(), discover.Result{Table: table, Sessions: []discover.Session{there}}, 1)
	s.sampleProcesses()
	if len(s.trees) != 1 || len(s.rows) != 1 || len(s.changesAskedFor) != 1 {
		t.Errorf("%d trees, %d rows, %v", len(s.trees), len(s.rows), s.changesAskedFor)
	}
	s.details[rowKeyOf(&here)] = object.Session{Tokens: &object.Tokens{Total: 7}}
	s.changes[there.Dir] = &object.Changes{}
	if load := s.load(&here); load.CPU == nil || load.Memory == nil || load.Changes == nil || here.Tokens == nil {
		t.Errorf("of this machine: %+v", load)
	}
	load := s.load(&other)
	if load.CPU != nil || load.Memory != nil || load.TokenRate != nil || load.CPUHistory != nil || load.TokenHistory != nil || load.Changes != nil || other.Tokens != nil {
		t.Errorf("of another machine: %+v %v", load, other.Tokens)
	}
}

// The use of processors is that between two samples, of processes that have begun since in full, of those that ended no more.
func TestCPU(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	a, b := proc.ID{PID: 1, Birth: "1"}, proc.ID{PID: 2, Birth: "2"}
	var s topSamples
	if s.addCPU(at, usageSample{a: time.Hour}); s.currentCPU() != nil {
		t.Error("one sample makes a value")
	}
	for _, step := range []struct {
		used usageSample
		want float64
	}{
		{usageSample{a: time.Hour + time.Second}, 50},
		{usageSample{a: time.Hour + time.Second, b: 3 * time.Second}, 150},
		{usageSample{b: 3 * time.Second}, 0},
		{usageSample{a: time.Second}, 50}, // its clock went back: it counts as new
	} {
		at = at.Add(2 * time.Second)
		if s.addCPU(at, step.used); *s.currentCPU() != step.want {
			t.Errorf("%v: %v, want %v", step.used, *s.currentCPU(), step.want)
		}
	}
}

// The rate is what the last minute took, and never more. A total that shrinks begins anew.
func TestTokenRate(t *testing.T) {
	at := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var s topSamples
	for n := range int64(100) { // 50 tokens each two seconds
		s.addTokens(at.Add(time.Duration(2*n)*time.Second), 1000+50*n)
		switch rate := s.tokenRate(); {
		case n == 0 && rate != nil:
			t.Errorf("%v after one sample", *rate)
		case n > 0 && (rate == nil || *rate != float64(50*min(n, 30))):
			t.Errorf("%v after %d samples", rate, n+1)
		}
	}
	if n := len(s.perTick); n != keptSamples || s.perTick[n-1] != 50 {
		t.Errorf("%d samples: %v", n, s.perTick)
	}
	at = at.Add(time.Hour)
	if s.addTokens(at, 10); s.tokenRate() != nil || s.perTick[keptSamples-1] != 0 {
		t.Errorf("%v, %v", s.tokenRate(), s.perTick)
	}
}
