package render_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/proc"
)

func table(t testingT, look render.TextOptions, list ...discover.Session) string {
	t.Helper()
	look.Now = now
	var b bytes.Buffer
	if err := render.SessionTable(&b, objectsOf(list...), look); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

type testingT interface {
	Helper()
	Fatal(...any)
}

func TestSessionTablePiped(t *testing.T) {
	got := table(t, render.TextOptions{Home: "/home/me"}, completeSession(), unidentifiedSession(), stoppedSession())
	want := `
ID                                    AGENT        STATUS                       PID  AGE  LAST  GROUP  WAITING ON           DIR     TITLE
01a1fa5c-c285-7d91-bd0a-842a7d8b5424  codex        waiting (permission)  4711,4712*   2h    1m  g-1    shell: Go on? +3 -1  ~/repo  mend the parser
-                                     opencode     unknown                       99
88d1d394-0000-4000-8000-000000000000  claude-code  stopped                                  2d
`
	if got != want[1:] {
		t.Errorf("got\n%s", got)
	}
}

func TestSessionTableFitsTerminal(t *testing.T) {
	long := completeSession()
	long.Dir = "/home/me/very/long/path/to/some/project/sub"
	long.Title = "日本語のとても長い表題 with more words after it than fit in the line"
	for width, want := range map[int]string{
		100: `
ID        AGENT        STATUS                WAITING ON           DIR               TITLE
01a1fa5c  codex        waiting (permission)  shell: Go on? +3 -1  …ome/project/sub  日本語のとても…
88d1d394  claude-code  stopped
`,
		80: `
ID        AGENT        STATUS   WAITING ON           DIR               TITLE
01a1fa5c  codex        waiting  shell: Go on? +3 -1  …ome/project/sub  日本語の…
88d1d394  claude-code  stopped
`,
		60: `
ID        AGENT        STATUS   WAITING ON          TITLE
01a1fa5c  codex        waiting  shell: Go on? +3 …  日本語…
88d1d394  claude-code  stopped
`,
		40: `
ID        AGENT        STATUS
01a1fa5c  codex        waiting (permiss…
88d1d394  claude-code  stopped
`,
	} {
		if got := table(t, render.TextOptions{Width: width, Home: "/home/me"}, long, stoppedSession()); got != want[1:] {
			t.Errorf("%d columns: got\n%s", width, got)
		}
	}
	if got := table(t, render.TextOptions{Width: 30}, long, stoppedSession()); got != "ID        STATUS\n01a1fa5c  waiting (permission)\n88d1d394  stopped\n" {
		t.Errorf("narrow:\n%s", got)
	}
}

// The table of launches fits the terminal, and is not truncated in a pipe.
func TestLaunchTable(t *testing.T) {
	id := "01a1fa5c-c285-7d91-bd0a-842a7d8b5424"
	list := []object.LaunchResult{
		{Name: "codex", Adapter: "codex", Branch: "try/a-group-with-a-long-name/codex", CWD: "/home/me/src/repo-try-a-group-with-a-long-name-codex", Session: &object.Session{ID: &id}},
		{Name: "claude-code-fable", Adapter: "claude-code", Error: "failed"},
	}
	for width, want := range map[int]string{
		0: `
NAME               ID                                    BRANCH                              DIR
codex              01a1fa5c-c285-7d91-bd0a-842a7d8b5424  try/a-group-with-a-long-name/codex  /home/me/src/repo-try-a-group-with-a-long-name-codex
claude-code-fable  -
`,
		80: `
NAME               ID        BRANCH                     DIR
codex              01a1fa5c  try/a-group-with-a-long-…  …-with-a-long-name-codex
claude-code-fable  -
`,
	} {
		var b strings.Builder
		if err := render.LaunchTable(&b, list, render.TextOptions{Width: width, Home: "/home/me"}); err != nil {
			t.Fatal(err)
		}
		if b.String() != want[1:] {
			t.Errorf("%d columns:\n%s", width, b.String())
		}
	}
}

func TestSessionTableColors(t *testing.T) {
	got := table(t, render.TextOptions{Width: 80, Color: true}, stoppedSession())
	if !strings.Contains(got, "\x1b[2mstopped\x1b[0m") || strings.Count(got, "\x1b") != 2 {
		t.Errorf("%q", got)
	}
}

// Only whole path elements are replaced with ~.
func TestSessionTableShortensHome(t *testing.T) {
	for home, want := range map[string]string{
		"/home/me": "~/repo", "/home/me/": "~/repo", "/home/m": "/home/me/repo", "": "/home/me/repo", "/": "/home/me/repo",
	} {
		if got := table(t, render.TextOptions{Home: home}, completeSession()); !strings.Contains(got, "  "+want+"  ") {
			t.Errorf("home %q: %s", home, got)
		}
	}
}

var sgr = regexp.MustCompile("\x1b\\[[0-9;]*m")

// No line is wider than the terminal or contains unsafe characters, whatever the rows contain.
func TestSessionTableFitsAnyText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		anything := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.SampledFrom([]rune("a \x1b[]\a\u009b\u202e\u200d日👩💻\u0301/"))))
		row := rapid.Custom(func(t *rapid.T) discover.Session {
			s := discover.Session{
				Record: &discover.Record{
					Agent: "codex", ID: anything.Draw(t, "id"), Dir: anything.Draw(t, "dir"),
					Title: anything.Draw(t, "title"), Updated: now,
				},
				Status:     rapid.SampledFrom([]discover.Status{discover.Running, discover.Waiting, discover.Stopped}).Draw(t, "status"),
				WaitingFor: anything.Draw(t, "for"), Group: anything.Draw(t, "group"), Error: anything.Draw(t, "error"),
			}
			for range rapid.IntRange(0, 3).Draw(t, "processes") {
				s.Processes = append(s.Processes, proc.Process{ID: proc.ID{PID: rapid.IntRange(1, 4194304).Draw(t, "pid")}})
			}
			return s
		})
		rows := rapid.SliceOfN(row, 1, 5).Draw(t, "rows")
		width := rapid.IntRange(0, 140).Draw(t, "width")
		out := table(t, render.TextOptions{Width: width, Color: true}, rows...)
		lines := strings.Split(strings.TrimSuffix(out, "\n"), "\n")
		if len(lines) != len(rows)+1 {
			t.Fatalf("%d rows in %d lines", len(rows), len(lines))
		}
		for _, line := range lines {
			line = sgr.ReplaceAllString(line, "")
			if n := displaywidth.String(line); width > 0 && n > width {
				t.Fatalf("%q is %d wide of %d", line, n, width)
			}
			if h := unsafeReason(line); h != "" {
				t.Fatalf("%q: %s", line, h)
			}
			if strings.TrimRight(line, " ") != line {
				t.Fatalf("%q ends in blanks", line)
			}
		}
	})
}

func TestShortIDs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOf(rapid.StringMatching(`[ab]{6,14}`)).Draw(t, "ids")
		least := rapid.IntRange(1, 10).Draw(t, "least")
		var full []render.SessionID
		for _, id := range ids {
			full = append(full, render.SessionID{ID: id})
		}
		if piped := (render.TextOptions{}).ShortIDs(full); !slices.Equal(piped, ids) {
			t.Fatalf("%q into a pipe", piped)
		}
		short := render.TextOptions{Width: 80, MinShortID: func(string, string) int { return least }}.ShortIDs(full)
		for i, s := range short {
			if !strings.HasPrefix(ids[i], s) || len(s) < least && s != ids[i] {
				t.Fatalf("%s for %s", s, ids[i])
			}
			for j, other := range ids {
				if other != ids[i] && strings.HasPrefix(other, s) && s != ids[i] {
					t.Fatalf("%s means %s and %s", s, ids[i], ids[j])
				}
			}
			if n := len(s) - 1; n >= least && !sharedPrefix(ids, ids[i], s[:n]) {
				t.Fatalf("%s for %s is longer than it need be among %v", s, ids[i], ids)
			}
		}
	})
}

func sharedPrefix(ids []string, not, prefix string) bool {
	for _, id := range ids {
		if id != not && strings.HasPrefix(id, prefix) {
			return true
		}
	}
	return false
}
