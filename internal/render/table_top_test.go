package render

import (
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/search"
	"agentctl/internal/object"
)

// The table of top fits each width, shows which row is selected and which is marked without a colour, and lets no control
// character of a session pass.
func TestTopTable(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	var sessions []object.Session
	for _, s := range []discover.Session{
		{
			Record: &discover.Record{
				Agent: "codex", ID: "01a211a3-30aa-7000-8000-000000000000", Dir: "/w/a", Title: "漢字 \x1b[31mred\x07", Tokens: &discover.Tokens{Context: 50, Window: 200},
				Quotas: []discover.Quota{{Used: new(12.5)}, {Used: new(83.4)}},
			},
			Status: discover.Waiting, WaitingFor: "permission", WaitingOn: &discover.WaitingOn{Tool: "Bash", Brief: "rm\x1b]0;x\x07 -rf"},
		},
		{Record: &discover.Record{Agent: "opencode", ID: "ses_1", Dir: "/w/b", Tokens: &discover.Tokens{Context: 1500}}, Status: discover.Running},
	} {
		sessions = append(sessions, object.NewSession(s))
	}
	loads := []Load{
		{Selected: true, CPU: new(12.4), Memory: new(int64(1 << 20)), TokenRate: new(1500.0), CPUHistory: []float64{0, 50, 100}, TokenHistory: []float64{0, 8}, Changes: &object.Changes{Changed: 2}},
		{Marked: true},
	}
	for width := 10; width <= 300; width++ {
		var b strings.Builder
		if err := TopTable(&b, sessions, loads, "", TextOptions{Width: width, Now: now}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != 3 || strings.ContainsAny(b.String(), "\x1b\x07") || !strings.HasPrefix(lines[1], ">") || !strings.HasPrefix(lines[2], " *") {
			t.Errorf("%d columns: %q", width, lines)
		}
		for _, line := range lines {
			if DisplayWidth(line) > width {
				t.Errorf("%d columns: %q", width, line)
			}
		}
		b.Reset()
		if err := TopTable(&b, sessions, loads, "CPU", TextOptions{Width: width, Now: now}); err != nil || width >= 25 && !strings.Contains(b.String(), " CPU") {
			t.Errorf("%d columns, sorted by CPU: %q, %v", width, b.String(), err)
		}
		if width < 200 {
			continue
		}
		for _, want := range []string{"12%", "1.0 MiB", "1.5k", "     ▁▅█", "25%", "83%", "2M", "waiting (permission)", "Bash: rm -rf", "漢字 red"} {
			if !strings.Contains(lines[1], want) {
				t.Errorf("%d columns: no %q in %q", width, want, lines[1])
			}
		}
	}
}

func TestSparkline(t *testing.T) {
	for _, tc := range []struct {
		samples []float64
		full    float64
		want    string
	}{
		{nil, 100, ""},
		{[]float64{0}, 100, "       ▁"},
		{[]float64{100, 0, 50, 200}, 100, "    ▅▁▃█"},
		{[]float64{0, 0, 0}, 0, "     ▁▁▁"},
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9}, 0, "▂▃▄▅▆▇██"},
	} {
		if got := Sparkline(tc.samples, tc.full); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.samples, got, tc.want)
		}
	}
}

// Of several limits the most used counts, unless one is reached; what has been reset does not.
func TestLimitText(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	for _, tc := range []struct {
		quotas []object.Quota
		want   string
	}{
		{nil, ""},
		{[]object.Quota{{Used: new(10.0)}, {Used: new(90.0)}}, "90%"},
		{[]object.Quota{{Used: new(90.0)}, {Reached: true, ResetsAt: object.Timestamp(now.Add(time.Hour))}}, "until 13:00"},
		{[]object.Quota{{Reached: true}}, "reached"},
		{[]object.Quota{{Reached: true, ResetsAt: object.Timestamp(now.Add(-time.Hour))}}, ""},
	} {
		if got := limitText(tc.quotas, now); got != tc.want {
			t.Errorf("%+v: %q, want %q", tc.quotas, got, tc.want)
		}
	}
}

// Each limit is there once, as it was noted last.
func TestLimits(t *testing.T) {
	now := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	session := func(age time.Duration, used float64) object.Session {
		return object.Session{Adapter: "codex", Quotas: []object.Quota{{Name: "primary", Used: &used, Time: object.Timestamp(now.Add(-age))}}}
	}
	got := TextOptions{Now: now}.Limits([]object.Session{session(time.Hour, 10), session(time.Minute, 20), session(2*time.Hour, 30)})
	if want := "codex: primary 20% used, noted 1m ago"; len(got) != 1 || got[0] != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// A line of any content gets exactly the width, and keeps its colours.
func TestFitLine(t *testing.T) {
	for _, tc := range []struct {
		line  string
		width int
		want  string
	}{
		{"abc", 5, "abc  "},
		{"abcdef", 4, "abc…"},
		{"漢字漢字", 4, "漢… "},
		{"\x1b[31mabcdef\x1b[0m", 4, "\x1b[31mabc…\x1b[0m"},
		{"\x1b[31mab\x1b[0m", 4, "\x1b[31mab\x1b[0m  "},
		{"abc", 0, ""},
	} {
		if got := FitLine(tc.line, tc.width); got != tc.want {
			t.Errorf("%q in %d: %q, want %q", tc.line, tc.width, got, tc.want)
		}
		if got := WithoutColor(FitLine(tc.line, tc.width)); DisplayWidth(got) != tc.width || strings.Contains(got, "\x1b") {
			t.Errorf("%q in %d without colours: %q", tc.line, tc.width, got)
		}
	}
}

// At 80 columns a row of list and of top still says which session it is, what it waits for, and where, however long the agent's short IDs are.
func TestRowsAt80Columns(t *testing.T) {
	waiting := object.NewSession(discover.Session{
		Record: &discover.Record{Agent: "claude-code", ID: "88d1d394-0000-4000-8000-000000000000", Dir: "/home/me/src/api", Title: "find out why the login test fails"},
		Status: discover.Waiting, WaitingFor: "permission", WaitingOn: &discover.WaitingOn{Tool: "Bash", Brief: "rm -rf dist"},
	})
	idle := object.NewSession(discover.Session{Record: &discover.Record{Agent: "opencode", ID: "ses_e0590e1d5ffeABCDEFGHIJKLMN", Dir: "/home/me/src/web", Title: "a title"}, Status: discover.Idle})
	cut := object.Session{Adapter: "codex", Status: "stopped", Outcome: "interrupted", InterruptedIn: &object.InterruptedIn{Tool: "Bash", Brief: "make"}}
	sessions := []object.Session{waiting, idle}
	opts := TextOptions{Width: 80, MinShortID: func(agent, _ string) int { return map[string]int{"claude-code": 8, "opencode": 16}[agent] }}
	var list, top strings.Builder
	_ = SessionTable(&list, sessions, opts)
	_ = TopTable(&top, sessions, make([]Load, 2), "", opts)
	var interrupted strings.Builder
	if _ = SessionTable(&interrupted, []object.Session{cut}, opts); !strings.Contains(interrupted.String(), "stopped  Bash: make") {
		t.Error(interrupted.String())
	}
	for _, text := range []string{list.String(), top.String()} {
		lines := strings.Split(text, "\n")
		for i, words := range []string{"ID AGENT STATUS WAITING ON DIR TITLE", "88d1d394 claude-code waiting Bash: rm - src/api find", "ses_e0590e1d5ffe opencode idle src/web a title"} {
			for word := range strings.FieldsSeq(words) {
				if !strings.Contains(lines[i], word) {
					t.Errorf("no %s in %q", word, lines[i])
				}
			}
		}
	}
}

// The line of a session has no control characters, whatever its storage, its process or another machine says.
func TestSearchTextIsSanitized(t *testing.T) {
	const hostile = "\x1b]0;x\a"
	f := search.Found{Session: discover.Session{
		Record: &discover.Record{ID: "a" + hostile, Agent: "codex", Dir: "/dir" + hostile, Title: "title" + hostile},
		Status: discover.Waiting, WaitingFor: "permission" + hostile,
	}}
	var b strings.Builder
	found := object.NewFound(f)
	SearchText(&b, &found, TextOptions{})
	text := strings.TrimSuffix(b.String(), "\n")
	if strings.ContainsAny(text, "\x1b\a\n") || !strings.Contains(text, "/dir") || !strings.Contains(text, "(permission") {
		t.Errorf("%q", text)
	}
}
