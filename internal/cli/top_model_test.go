package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/internal/terminal"
)

// screen is a model whose commands are recorded.
type screen struct {
	*topModel
	t   *testing.T
	ran chan string
}

// newScreen returns a model with these rows, which are not updated. A command prints its arguments.
func newScreen(t *testing.T, sessions ...discover.Session) *screen {
	f, _ := testFactory(t)
	call, err := f.NewCall("top", &CommonFlags{NoColor: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := &screen{newModel(call, NewTable()), t, make(chan string, 8)}
	m.runner = runner{factory: f, verb: func(_ context.Context, f Factory, args ...string) int {
		fmt.Fprintf(f.Stdout, "ran %q\n", args)
		m.ran <- strings.Join(args, " ")
		return len(args) % 2
	}}
	m.ctx, m.start = t.Context(), func(do func()) { go do() }
	m.known, m.paused = true, true
	for _, s := range SessionObjects(sessions) {
		m.rows = append(m.rows, row{key: topKeyOf(&s), s: s})
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
		{prompt{label: "agentctl stop 0123456789 0123456789 ? [y/N] ", confirm: true}, "agentctl stop 01234… ? [y/N] ▏"},
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
	for _, o := range orders() {
		switch o.name {
		case "cpu", "memory", "tokens", "context":
			if o.compare(more, less) >= 0 {
				t.Error(o.name)
			}
		case "directory":
			if o.compare(less, more) >= 0 {
				t.Error(o.name)
			}
		}
	}
}
