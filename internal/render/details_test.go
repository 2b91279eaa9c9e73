package render_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/tests/must"
	"agentctl/tests/schema"
)

func TestDetails(t *testing.T) {
	var b bytes.Buffer
	obj := exampleObject()
	obj.Explain = object.Explain(completeSession())
	must.Do(t, render.Details(&b, &obj, render.TextOptions{Now: now, Home: "/home/me"}))
	want := `
id           01a1fa5c-c285-7d91-bd0a-842a7d8b5424
agent        codex 0.169.0
status       waiting (permission): shell: Go on? +3 -1
error        the last turn failed
doing        tool: shell
title        mend the parser
prompt       please mend the parser
dir          ~/repo
branch       main
changes      3 changed, 1 untracked, 2 ahead of origin/main
model        gpt-5.5
source       exec
pid          4711, since 2026-11-20 10:00:00 (2h ago); 4712
started      2026-11-20 09:00:00 (3h ago)
active       2026-11-20 11:58:30 (1m ago)
tokens       1 in, 2 out, 3 cache read, 4 cache write, 5 reasoning, 6 total, 7 context
cost         $1.2500
quota        primary 87.4% used, resets 2026-11-20 12:38 (in 38m), noted 1m ago; reached, has reset since, 2026-11-19 10:00 (26h ago), You've hit your limit
group        g-1
parent       01a1fa5c-0000
forked from  01a1fa5c-1111
stored in    ~/.codex/sessions/r.jsonl
home         ~/.codex
evidence     exact writer-lock: /home/me/.codex/thread-writer-locks/x.lock
archived     true
originator   codex_exec
ports        [4096]
shared       true

PID    AGE    CPU   MEMORY  PORTS      PROCESS
4711    2h  3h05m  2.0 GiB             codex exec (shared)
4720    1m   0.1s    512 B               bash -c 'npm run dev '
4723    0s  1m12s  4.0 MiB  3000,9229      node
4730                                     claude (claude-code 88d1d394-0000-4000-8000-000000000000)
4740                                   sshd
total       3h06m  2.0 GiB

why: processes 4711, 4712 are live; process 4711 shows that the turn is blocked on the user
evidence considered:
  + pid 4711  exact writer-lock: /home/me/.codex/thread-writer-locks/x.lock
      it shows the turn: waiting
      confirmed by the agent or the kernel
  - pid 4712  weak cwd: /home/me/repo
      ambiguous
`
	if got := b.String(); got != want[1:] {
		t.Errorf("got\n%s", got)
	}
}

func TestDetailsOfStoppedSession(t *testing.T) {
	s := stoppedSession()
	s.Turn = discover.Turn{State: discover.TurnDone, Detail: "tool: old"}
	var b bytes.Buffer
	obj := object.NewSession(s)
	obj.Explain = object.Explain(s)
	must.Do(t, render.Details(&b, &obj, render.TextOptions{Now: now, Color: true}))
	got := b.String()
	for _, want := range []string{
		"status       \x1b[2mstopped\x1b[0m\n", "why: no live process runs it; its last stored turn has ended\n", "no process refers to it",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
	if strings.Contains(got, "tool: old") {
		t.Error("a stopped session does something")
	}
}

// No text from a transcript can add a line to the details, or reach the terminal unsanitized.
func FuzzDetails(f *testing.F) {
	f.Add("a\nid  b\x1b[2J\u202e")
	f.Fuzz(func(t *testing.T, s string) {
		x := completeSession()
		x.ID, x.Title, x.Error, x.Dir, x.Branch, x.Version, x.Group, x.Reason = s, s, s, s, s, s, s, s
		x.Evidence[0].Detail, x.Evidence[1].Why, x.Evidence[0].Kind = s, s, s
		x.Meta = discover.Facts{"k" + s: s}
		var b bytes.Buffer
		obj := object.NewSession(x)
		obj.Explain = object.Explain(x)
		must.Do(t, render.Details(&b, &obj, render.TextOptions{Now: now}))
		for line := range strings.Lines(b.String()) {
			if h := unsafeReason(strings.TrimSuffix(line, "\n")); h != "" {
				t.Errorf("%q: %s", line, h)
			}
		}
		if n := strings.Count(b.String(), "\n"); n > 40 {
			t.Errorf("%d lines", n)
		}
	})
}

func TestAge(t *testing.T) {
	for want, d := range map[string]time.Duration{
		"0s": -time.Hour, "59s": 59 * time.Second, "1m": time.Minute, "59m": 3599 * time.Second, "1h": time.Hour,
		"47h": 47*time.Hour + 59*time.Minute, "2d": 48 * time.Hour, "365d": 365 * 24 * time.Hour,
	} {
		if got := render.Age(now.Add(-d), now); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
	if got := render.Age(time.Time{}, now); got != "" {
		t.Errorf("no time: %s", got)
	}
}

func format(t *testing.T, template string, s discover.Session) (string, error) {
	t.Helper()
	f, err := render.ParseFormat(template, func() time.Time { return now }, object.Session{})
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	err = f.Write(&b, object.NewSession(s))
	return b.String(), err
}

// withoutWindow has tokens, as OpenCode states them.
func withoutWindow() discover.Session {
	s := stoppedSession()
	s.Tokens = &discover.Tokens{In: 1, Out: 2, Total: 3}
	return s
}

func TestFormat(t *testing.T) {
	nasty := completeSession()
	nasty.Title = "a\x1b[31m\nb"
	for _, tc := range []struct {
		template, want string
		of             discover.Session
	}{
		{`{{.id}}\t{{.pid}}`, "01a1fa5c-c285-7d91-bd0a-842a7d8b5424\t4711\n", completeSession()},
		{`{{.tokens.in}}/{{.evidence.kind}}`, "1/writer-lock\n", completeSession()},
		{`{{.pid}}{{"\n"}}\n{{printf "%d\t" .pid}}\t}}\n{`, "4711\n\n4711\t\t}}\n{\n", completeSession()},
		{`{{.tokens.in}}/{{.evidence.kind}}/{{.pid}}`, "//\n", stoppedSession()},
		{`{{age .lastActivityAt}} {{truncate 6 .title}}`, "1m mend …\n", completeSession()},
		{`{{with index .meta "ports"}}{{json .}}{{end}}`, "[4096]\n", completeSession()},
		{`{{with index .meta "ports"}}{{json .}}{{end}}`, "\n", stoppedSession()},
		{`{{json .evidence}} {{json .tokens}}`, "null null\n", stoppedSession()},
		{`{{.tokens.total}}/{{.tokens.window}}/`, "3//\n", withoutWindow()},
		{`{{json .tokens}}`, `{"cacheRead":0,"cacheWrite":0,"in":1,"out":2,"reasoning":0,"total":3}` + "\n", withoutWindow()},
		{`{{json .evidence}}`, `{"detail":"open files: permission denied","kind":"process","strength":"none"}` + "\n", unidentifiedSession()},
		{`{{if gt .tokens.total 5}}much{{end}}`, "much\n", completeSession()},
		{`{{range .pids}}{{.}};{{end}}`, "4711;4712;\n", completeSession()},
		{`{{.title}}`, "a b\n", nasty},
		{`{{.id}}`, "\n", unidentifiedSession()},
		{`{{age .startedAt}}`, "\n", unidentifiedSession()},
	} {
		got, err := format(t, tc.template, tc.of)
		if err != nil || got != tc.want {
			t.Errorf("%s: %q, %v; want %q", tc.template, got, err, tc.want)
		}
	}
}

// {{json .}} prints what --json prints, for every type of object.
func TestFormatJSONEqualsJSONOutput(t *testing.T) {
	for _, obj := range []any{
		object.NewSession(completeSession()), object.NewSession(stoppedSession()), object.NewSession(unidentifiedSession()), exampleObject(),
		object.Lock{Directory: "/a", Kind: "held", PID: 1},
		object.Worktree{Path: "/a", Sessions: []object.Session{object.NewSession(stoppedSession())}},
		object.Event{Type: "session.idle", Session: object.NewSession(stoppedSession())},
	} {
		f, err := render.ParseFormat("{{json .}}", time.Now, obj)
		must.Do(t, err)
		var got, want bytes.Buffer
		must.Do(t, errors.Join(f.Write(&got, obj), render.JSONLine(&want, obj)))
		var printed, whole any
		must.Do(t, errors.Join(json.Unmarshal(got.Bytes(), &printed), json.Unmarshal(want.Bytes(), &whole)))
		if !reflect.DeepEqual(printed, whole) {
			t.Errorf("%s\nwant %s", got.String(), want.String())
		}
	}
}

// What a killed process has left behind, such as a lock file, may not name the process.
func TestEvidenceWithoutProcess(t *testing.T) {
	s := stoppedSession()
	s.Evidence = []discover.Evidence{{Claim: discover.Claim{Strength: discover.Exact, Kind: "writer-lock", Detail: "no process holds x.lock", LeftBehind: true}, Why: "left behind"}}
	obj := object.NewSession(s)
	obj.Explain = object.Explain(s)
	if err := schema.Check("session", text(t, obj)); err != nil {
		t.Error(err)
	}
	var b bytes.Buffer
	must.Do(t, render.Details(&b, &obj, render.TextOptions{Now: now}))
	if want := "\n  - exact writer-lock: no process holds x.lock\n      left behind\n"; !strings.Contains(b.String(), want) {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}

func TestFormatErrors(t *testing.T) {
	for template, want := range map[string]string{
		"{{.sessionId}}":  `no field "sessionId"; valid fields: id, host, adapter,`,
		"{{.tokens.inn}}": `no field "inn" in .tokens; valid fields: cacheRead, cacheWrite,`,
		"{{.nope.name}}":  `no field "nope"; valid fields: id,`,
		"{{.meta.name}}":  `not every object has "name" in .meta; use {{index .meta "name"}}`,
		"{{.id":           "unclosed action",
		"id":              "\"id\" contains no field: use a Go template such as '{{.id}}', or the word json",
		"":                "contains no field",
		"table {{.id}}":   "a template prints lines, not a table",
		"table":           "a template prints lines, not a table",
		"{{nope .id}}":    `function "nope" not defined`,
	} {
		if _, err := format(t, template, completeSession()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", template, err, want)
		}
	}
}

// Whatever a template prints is sanitized, the whole object and all of its members too.
func TestFormatOfTheWholeObjectIsSanitized(t *testing.T) {
	s := object.NewSession(completeSession())
	s.Title = "\x1b]0;x\x07 title\x1b[2J"
	for _, template := range []string{"{{.}}", "{{range $k, $v := .}}{{$v}}{{end}}", "{{json .}}", "{{.tokens}}"} {
		f, err := render.ParseFormat(template, time.Now, object.Session{})
		must.Do(t, err)
		var out bytes.Buffer
		if err := f.Write(&out, s); err != nil || strings.ContainsAny(out.String(), "\x1b\x07") {
			t.Errorf("%s: %q, %v", template, out.String(), err)
		}
	}
}

// The call fits on one line and is sanitized.
func TestWaitingOnText(t *testing.T) {
	file := func(name string, diff *discover.Diff) *discover.WaitingOn {
		return &discover.WaitingOn{Tool: "Edit", Brief: name, Path: name, Diff: diff}
	}
	for want, on := range map[string]*discover.WaitingOn{
		"":                            nil,
		"Bash: rm -rf build":          {Tool: "Bash", Brief: "rm -rf \x1b[31mbuild\n"},
		"Bash: /w/a/run":              {Tool: "Bash", Brief: "/w/a/run"},
		"question: Which? Really?":    {Tool: "question", Brief: "Which?", Questions: []string{"Which?", "Really?"}},
		"Plan":                        {Tool: "Plan"},
		"-: x":                        {Brief: "x"},
		"Edit: sub/main.go +3 -0":     file("/w/a/sub/main.go", &discover.Diff{Added: 3, Removed: new(0)}),
		"Edit: /w/ab/main.go +0 -1":   file("/w/ab/main.go", &discover.Diff{Removed: new(1)}),
		"Edit: main.go +12":           file("/w/a/main.go", &discover.Diff{Added: 12}),
		"Edit: /w/a":                  file("/w/a", nil),
		"Edit: ../main.go":            file("../main.go", nil),
		"apply_patch: a.go, b.go +12": {Tool: "apply_patch", Brief: "a.go, b.go", Diff: &discover.Diff{Added: 12}},
	} {
		s := discover.Session{Record: &discover.Record{Agent: "claude-code", Dir: "/w/a"}, Status: discover.Waiting, WaitingOn: on}
		obj := object.NewSession(s)
		if got := render.WaitingOnText(&obj); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	var out strings.Builder
	s := object.NewSession(completeSession())
	if err := render.Details(&out, &s, render.TextOptions{Now: now}); err != nil || !strings.Contains(out.String(), "waiting (permission): shell: Go on? +3 -1") {
		t.Errorf("%s%v", out.String(), err)
	}
}

func TestChangesText(t *testing.T) {
	zero, one := 0, 1
	for want, m := range map[string]object.Session{
		"":                                     {},
		"changes    none\n":                    {Changes: &object.Changes{}},
		"changes    2 untracked\n":             {Changes: &object.Changes{Untracked: 2}},
		"changes    1 changed, 1 behind o/b\n": {Changes: &object.Changes{Changed: 1, Upstream: "o/b", Ahead: &zero, Behind: &one}},
		"changes    not known: git is late\n":  {ChangesError: "not known: git is late"},
	} {
		got := block(t, stoppedSession(), m)
		_, found, _ := strings.Cut(got, "changes ")
		if line, _, _ := strings.Cut(found, "\n"); strings.TrimSpace(line) != strings.TrimSpace(strings.TrimPrefix(want, "changes ")) {
			t.Errorf("%q: %s", want, got)
		}
	}
}

// block is what is printed of a session with these resources.
func block(t testingT, session discover.Session, m object.Session) string {
	t.Helper()
	s := object.NewSession(session)
	s.Processes, s.Changes, s.ChangesError = m.Processes, m.Changes, m.ChangesError
	var b bytes.Buffer
	must.Do(t, render.Details(&b, &s, render.TextOptions{Now: now, Width: 80}))
	return b.String()
}

// A single process has no total row, and unknown values are empty.
func TestProcessGridTotal(t *testing.T) {
	got := block(t, stoppedSession(), object.Session{Processes: []object.Process{{PID: 7, Name: "codex"}}})
	if !strings.HasSuffix(got, "\n\nPID  PROCESS\n7    codex\n") {
		t.Errorf("%q", got)
	}
	got = block(t, stoppedSession(), object.Session{Processes: []object.Process{{PID: 7, Name: "codex", Adapter: "codex"}, {PID: 8, Command: "/a/b/x y"}}})
	if !strings.HasSuffix(got, "\n\nPID    PROCESS\n7      codex (codex session)\n8      x y\ntotal\n") {
		t.Errorf("%q", got)
	}
}

// A process name cannot control the terminal or break its line.
func TestProcessGridIsSanitized(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nasty := rapid.StringOf(rapid.SampledFrom([]rune("a \x1b[2J]\a\u009b\u202e日\n\x00")))
		m := object.Session{Processes: []object.Process{{
			PID: 7, Name: nasty.Draw(t, "name"), Command: nasty.Draw(t, "command"),
			Adapter: nasty.Draw(t, "adapter"), Sessions: []string{nasty.Draw(t, "session")},
		}}, ChangesError: nasty.Draw(t, "why")}
		s := stoppedSession()
		s.Quotas = []discover.Quota{{Name: nasty.Draw(t, "quota"), Text: nasty.Draw(t, "text")}}
		got := block(t, s, m)
		if _, tree, _ := strings.Cut(got, "\n\n"); strings.Count(tree, "\n") != 2 {
			t.Fatalf("%q", got)
		}
		for line := range strings.Lines(got) {
			if h := unsafeReason(strings.TrimSuffix(line, "\n")); h != "" {
				t.Fatalf("%q: %s", line, h)
			}
		}
	})
}

// A quota without a number shows only what is known.
func TestQuotaWithoutNumber(t *testing.T) {
	s, none := stoppedSession(), math.NaN()
	s.Quotas = []discover.Quota{{Name: "weekly", Used: &none, Resets: now.Add(50 * time.Hour)}}
	if q := object.NewSession(s).Quotas; len(q) != 1 || q[0] != (object.Quota{Name: "weekly", ResetsAt: "2026-11-22T14:00:00.000Z"}) {
		t.Errorf("%+v", q)
	}
	if got := block(t, s, object.Session{}); !strings.Contains(got, "  weekly resets 2026-11-22 14:00 (in 2d)\n") {
		t.Error(got)
	}
}

func TestByteSize(t *testing.T) {
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 5 << 20: "5.0 MiB", 3 << 50: "3072.0 TiB"} {
		if got := render.ByteSize(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}

// docs/json.md shows the resources of a session exactly as they are printed.
func TestResourcesEqualDocsExample(t *testing.T) {
	doc, err := os.ReadFile("../../docs/json.md")
	must.Do(t, err)
	_, section, _ := strings.Cut(string(doc), "\n## What a session does on the machine\n")
	_, example, _ := strings.Cut(section, "```json session\n")
	example, _, _ = strings.Cut(example, "```\n")
	var written, printed object.Session
	if err := json.Unmarshal([]byte(example), &written); err != nil {
		t.Fatal(err, example)
	}
	must.Do(t, json.Unmarshal([]byte(text(t, exampleObject())), &printed))
	printed.Quotas = printed.Quotas[:1]
	printed.Processes = slices.Concat(printed.Processes[:1], printed.Processes[2:4])
	if !reflect.DeepEqual(written.Quotas, printed.Quotas) || !reflect.DeepEqual(written.Changes, printed.Changes) ||
		!reflect.DeepEqual(written.Processes, printed.Processes) {
		t.Errorf("%+v, want %+v", written, printed)
	}
}

// However narrow the table is, the ID of a session is one that commands take.
func TestUsageTableKeepsIDs(t *testing.T) {
	row := object.UsageRow{Key: "ses_de48c00a5ffeP3rKmniU3A91su", Adapter: "opencode", Title: "a title that is long enough"}
	row.Tokens.In, row.Tokens.Out, row.Tokens.CacheRead, row.Tokens.CacheWrite, row.Tokens.Total = 1e9, 1e9, 1e9, 1e9, 4e9
	options := render.TextOptions{Width: 60, Now: now, MinShortID: func(string, string) int { return 16 }}
	var b bytes.Buffer
	if err := render.UsageTable(&b, object.Usage{By: "session", Rows: []object.UsageRow{row}}, options); err != nil || !strings.Contains(b.String(), "\nses_de48c00a5ffe  ") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

// No other column says that a session was cut off.
func TestWideSessionTableNamesOutcome(t *testing.T) {
	cut := stoppedSession()
	cut.Outcome, cut.Turn = discover.Interrupted, discover.Turn{State: discover.TurnOpen, Prompt: "go on"}
	var b bytes.Buffer
	if err := render.WideSessionTable(&b, objectsOf(cut), render.TextOptions{Width: 80, Now: now}); err != nil || !strings.Contains(b.String(), "stopped (interrupted)") {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestWideSessionTable(t *testing.T) {
	one, two, three := completeSession(), stoppedSession(), unidentifiedSession()
	one.Tokens.Context, one.Tokens.Window = 45_250, 200_000
	two.Tokens = &discover.Tokens{Context: 1_250_000}
	list := []discover.Session{one, three, two}
	objects := objectsOf(list...)
	objects[0].Processes, objects[0].Changes = exampleObject().Processes, exampleObject().Changes
	objects[1].Processes, objects[1].Changes, objects[2].ChangesError = []object.Process{{PID: 99}}, &object.Changes{}, "not known: late"
	for width, want := range map[int]string{
		0: `
ID                                    AGENT        STATUS                       PID  AGE  LAST    CPU   MEMORY  PORTS        CONTEXT  CHANGES  DOING                GROUP  DIR     TITLE
01a1fa5c-c285-7d91-bd0a-842a7d8b5424  codex        waiting (permission)  4711,4712*   2h    1m  3h06m  2.0 GiB  3000,9229  45.2k 22%  3M 1?    shell: Go on? +3 -1  g-1    ~/repo  mend the parser
-                                     opencode     unknown                       99                                                   none
88d1d394-0000-4000-8000-000000000000  claude-code  stopped                                  2d                                  1.2M
`,
		100: `
ID        AGENT        STATUS              LAST    CPU   MEMORY  CHANGES  GROUP  DIR     TITLE
01a1fa5c  codex        waiting (permissi…    1m  3h06m  2.0 GiB  3M 1?    g-1    ~/repo  mend the p…
-         opencode     unknown                                   none
88d1d394  claude-code  stopped               2d
`,
	} {
		var b bytes.Buffer
		must.Do(t, render.WideSessionTable(&b, objects, render.TextOptions{Width: width, Now: now, Home: "/home/me"}))
		if got := b.String(); got != want[1:] {
			t.Errorf("at %d, got\n%s", width, got)
		}
	}
}
