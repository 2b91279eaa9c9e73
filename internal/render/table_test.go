package render_test

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/clipperhouse/displaywidth"
	"pgregory.net/rapid"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/proc"
	"agentctl/tests/must"
)

func table(t testingT, look render.TextOptions, list ...discover.Session) string {
	t.Helper()
	look.Now = now
	var b bytes.Buffer
	must.Do(t, render.SessionTable(&b, objectsOf(list...), look))
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
		must.Do(t, render.LaunchTable(&b, list, render.TextOptions{Width: width, Home: "/home/me"}))
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

// A frame fits a screen of any size, and says how many rows are omitted.
func TestFrame(t *testing.T) {
	var sessions []object.Session
	for i, status := range []discover.Status{discover.Waiting, discover.Running, discover.Running, discover.Idle, discover.Stopped} {
		sessions = append(sessions, objectsOf(discover.Session{
			Record: &discover.Record{Agent: "codex", ID: fmt.Sprintf("%08d-x", i), Title: "日本語 \x1b[2J title"}, Status: status,
		})...)
	}
	look := render.TextOptions{Width: 70, Now: time.Date(2026, 11, 20, 12, 34, 56, 0, time.UTC)}
	want := `1 waiting, 2 running, 1 idle, 1 stopped  ·  12:34:56  ·  q quits
ID        AGENT  STATUS   TITLE
00000000  codex  waiting  日本語 title
00000001  codex  running  日本語 title
… 3 more
2 could not be read: one
`
	warnings := []string{"on\x1b[2Je", "two"}
	if got := strings.Join(render.Frame(sessions, warnings, look, 6), "\n") + "\n"; got != want {
		t.Errorf("got\n%s", got)
	}
	for rows := 1; rows < 12; rows++ {
		for width := 1; width < 80; width++ {
			look.Width = width
			for n := range sessions {
				lines := render.Frame(sessions[:n], warnings[:n%3], look, rows)
				if len(lines) > rows {
					t.Fatalf("%d lines of %d", len(lines), rows)
				}
				for _, line := range lines {
					if w := displaywidth.String(line); w > width || strings.ContainsAny(line, "\n\x1b") {
						t.Fatalf("%q is %d wide, of %d", line, w, width)
					}
				}
			}
		}
	}
	if got := render.Frame(nil, nil, look, 24); len(got) != 2 || !strings.HasPrefix(got[0], "no sessions  ·  ") || got[1] != "" {
		t.Errorf("of none: %q", got)
	}
}

// A narrow terminal still shows which directory is locked, and by whom.
func TestLockTableFits(t *testing.T) {
	id := "88d1d394-0000-4000-8000-000000000000"
	locks := []object.Lock{
		{Directory: "/home/me/src/project", Kind: "session", Since: "2026-11-20T11:00:00.000Z", Adapter: "claude-code", SessionID: &id, PID: 4711},
		{Directory: "/srv/a", Kind: "declared", Since: "2026-11-20T11:00:00.000Z", LockedBy: "ana", Reason: "a reason that goes on and on and on and on"},
	}
	for width, want := range map[int]string{
		0: "DIR            TYPE      BY                                                 PID  SINCE             REASON\n" +
			"~/src/project  session   claude-code 88d1d394-0000-4000-8000-000000000000  4711  2026-11-20 11:00\n" +
			"/srv/a         declared  ana                                                     2026-11-20 11:00  a reason that goes on and on and on and on\n",
		80: "DIR            TYPE      BY                    SINCE             REASON\n" +
			"~/src/project  session   claude-code 88d1d394  2026-11-20 11:00\n" +
			"/srv/a         declared  ana                   2026-11-20 11:00  a reason that …\n",
		40: "DIR            BY\n~/src/project  claude-code 88d1d394\n/srv/a         ana\n",
	} {
		var out strings.Builder
		must.Do(t, render.LockTable(&out, locks, render.TextOptions{Width: width, Now: now, Home: "/home/me"}))
		if out.String() != want {
			t.Errorf("%d columns:\n%s\nwant:\n%s", width, out.String(), want)
		}
	}
}

// A narrow terminal shows as much of the reason for a foreign hook as fits.
func TestGitHookTableFits(t *testing.T) {
	list := []object.GitHook{{Hook: "pre-commit", State: "foreign", Path: "/srv/a/.husky/_/pre-commit", Reason: "git takes the hooks from /srv/a/.husky/_"}}
	for width, want := range map[int]string{
		50: "HOOK        STATE    REASON\npre-commit  foreign  git takes the hooks from /sr…\n",
		90: "HOOK        STATE    PATH                        REASON\npre-commit  foreign  /srv/a/.husky/_/pre-commit  git takes the hooks from /srv/a/.husky/_\n",
	} {
		var out strings.Builder
		must.Do(t, render.GitHookTable(&out, list, render.TextOptions{Width: width}))
		if out.String() != want {
			t.Errorf("%d columns:\n%s\nwant:\n%s", width, out.String(), want)
		}
	}
}

// A narrow terminal still shows the sessions of a worktree.
func TestWorktreeTableFits(t *testing.T) {
	id, other := "88d1d394-0000-4000-8000-000000000000", "99d1d394-0000-4000-8000-000000000000"
	list := []object.Worktree{{Path: "/srv/a", Branch: "main", Head: "d38f206391234567", Main: true, Sessions: []object.Session{
		{ID: &id, Adapter: "claude-code", Status: "running"}, {ID: &other, Adapter: "claude-code", Status: "waiting"},
	}}}
	var out strings.Builder
	must.Do(t, render.WorktreeTable(&out, list, render.TextOptions{Width: 50}))
	if want := "PATH    BRANCH  SESSIONS\n/srv/a  main    claude-code 88d1d394 running, cla…\n"; out.String() != want {
		t.Errorf("%s\nwant:\n%s", out.String(), want)
	}
}
