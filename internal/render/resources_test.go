package render_test

import (
	"bytes"
	"encoding/json"
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
)

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
