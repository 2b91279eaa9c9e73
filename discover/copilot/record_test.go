package copilot

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/discover/storage"
	"agentctl/tests/golden"
	"agentctl/tests/must"
)

// The captured storage of many versions and situations reads as recorded. testdata/README.md describes each.
func TestGolden(t *testing.T) {
	dirs, err := filepath.Glob("testdata/[0-9]*")
	if err != nil || len(dirs) != 16 {
		t.Fatalf("%d folders of fixtures: %v", len(dirs), err)
	}
	for _, dir := range dirs {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			records, warnings := readHome(t, dir, discover.ReadOptions{Full: true})
			if len(warnings) > 0 {
				t.Error(warnings)
			}
			golden.Compare(t, filepath.Join("testdata", "golden", "records-"+filepath.Base(dir)+".json"), golden.JSON(t, records))
		})
	}
}

// readHome reads all records of a home, sorted by ID, and the warnings.
func readHome(t testing.TB, dir string, options discover.ReadOptions) (records []discover.Record, warnings []error) {
	t.Helper()
	entries, err := New().Entries(t.Context(), []discover.Home{{Dir: dir}}, discover.EntryFilter{})
	if err != nil {
		warnings = append(warnings, err)
	}
	for r, err := range New().Read(t.Context(), entries, options) {
		if err != nil {
			if w := (*discover.Warning)(nil); !errors.As(err, &w) {
				t.Errorf("no warning: %v", err)
			}
			warnings = append(warnings, err)
			continue
		}
		records = append(records, r)
	}
	slices.SortFunc(records, func(a, b discover.Record) int { return strings.Compare(a.ID, b.ID) })
	return records, warnings
}

const someID = "22222222-0000-4000-8000-000000000001"

// parse reads bytes as the records of a session.
func parse(t testing.TB, data []byte, w workspace) (discover.SessionUsage, error) {
	t.Helper()
	var u discover.SessionUsage
	e := discover.Entry{Agent: agentName, ID: someID, Path: eventsPath("/x", someID), Home: "/x"}
	ok, err := readFile(storage.NewMemoryFile(e.Path, data, time.Unix(1, 0)), e, &w, discover.ReadOptions{Full: true}, &u)
	u.TruncateTexts()
	if ok { // it is about damaged records
		err = nil
	}
	return u, err
}

// Any bytes give no panic and bounded texts, and a torn last line changes nothing.
func FuzzRecord(f *testing.F) {
	paths, _ := filepath.Glob("testdata/*/session-state/*/events.jsonl")
	for _, path := range paths {
		if data, err := os.ReadFile(path); err == nil && len(data) < 20<<10 { // small ones mutate faster
			f.Add(data)
		}
	}
	f.Add([]byte{0, 255, '\n'})
	f.Fuzz(func(t *testing.T, data []byte) {
		end := bytes.LastIndexByte(data, '\n') + 1
		got, err := parse(t, data, workspace{})
		whole, wholeErr := parse(t, data[:end], workspace{})
		torn := end > 0 && !storage.Object(data[end:]).Complete()
		if a, b := asJSON(t, got), asJSON(t, whole); torn && (a != b || (err == nil) != (wholeErr == nil)) {
			t.Fatalf("torn:  %s, %v\nwhole: %s, %v", a, err, b, wholeErr)
		}
		if len([]rune(got.Prompt)) > discover.PromptLimit {
			t.Fatalf("prompt %q", got.Prompt)
		}
	})
}

func asJSON(t testing.TB, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func FuzzWorkspace(f *testing.F) {
	f.Add("id: x\ncwd: /a\nname: |-\n  one\n  two\nbranch: 'it''s'\nuser_named: true\n")
	f.Add("name: \"a\\tb\"\r\nname:\n: \n|-")
	f.Fuzz(func(t *testing.T, text string) {
		w := parseWorkspace(text)
		if n := len(w.Name) + len(w.Dir) + len(w.Branch) + len(w.Client); n > 4*len(text)+16 {
			t.Fatalf("%d bytes of %d", n, len(text))
		}
	})
}

// The agent writes texts as YAML has them (SEEN 1.0.102). A name that is the prompt is no title.
func TestWorkspace(t *testing.T) {
	for text, want := range map[string]workspace{
		"id: x\ncwd: /srv/a: b\nbranch: main\nclient_name: github/cli\nname: plain text\nuser_named: true\n": {
			sessionContext: sessionContext{Dir: "/srv/a: b", Branch: "main"}, Name: "plain text", Client: ownClient, Named: true,
		},
		"name: 'it''s: a \"quoted\" # name'\n":           {Name: `it's: a "quoted" # name`},
		"name: \"bell\\u0007\"\nfork_count: 0\n":         {Name: "bell\a"},
		"name: |-\n  line one\n\n  name: x\nbranch: b\n": {Name: "line one\n\nname: x", sessionContext: sessionContext{Branch: "b"}},
		"summary: of 1.0.12\n":                           {Name: "of 1.0.12"},
		"":                                               {},
	} {
		if got := parseWorkspace(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
	for _, c := range []struct {
		w             workspace
		prompt, title string
	}{
		{workspace{Name: "fix the  tests"}, "fix the\ntests please", ""},
		{workspace{Name: "fix the tests and more"}, "fix the tests", ""},
		{workspace{Name: "fix", Named: true}, "fix the tests", "fix"},
		{workspace{Name: "Tests Of The Parser"}, "fix the tests", "Tests Of The Parser"},
		{workspace{}, "fix", ""},
	} {
		if got := c.w.title(c.prompt); got != c.title {
			t.Errorf("%+v of %q: title %q, want %q", c.w, c.prompt, got, c.title)
		}
	}
}

// usageOf returns what the sessions of a home used.
func usageOf(t *testing.T, home string) map[string]*discover.SessionUsage {
	t.Helper()
	entries, err := New().Entries(t.Context(), []discover.Home{{Dir: home}}, discover.EntryFilter{})
	must.Do(t, err)
	all := map[string]*discover.SessionUsage{}
	for u, err := range New().ReadUsage(t.Context(), entries) {
		must.Do(t, err)
		all[u.ID] = u
	}
	return all
}

// The answers of each captured session are together its tokens; what a fork has copied counts once.
func TestUsageIsThatOfTheRecord(t *testing.T) {
	homes, _ := filepath.Glob("testdata/[0-9]*")
	counted := 0
	for _, home := range homes {
		for id, u := range usageOf(t, home) {
			var sum int64
			for _, used := range u.Usage {
				if tokens := used.Tokens; tokens.Total != tokens.In+tokens.CacheRead+tokens.CacheWrite+tokens.Out || used.Model == "" || used.Time.IsZero() {
					t.Errorf("%s: %+v", id, used)
				}
				sum += used.Tokens.Total
			}
			if counted++; u.Tokens == nil || u.Tokens.Total != sum {
				t.Errorf("%s: %+v, its answers have %d", id, u.Tokens, sum)
			}
		}
	}
	if counted < 12 {
		t.Errorf("%d sessions", counted)
	}
	fork := usageOf(t, "testdata/13-fork-and-intruder")["e170accb-c18c-4bf4-a381-4327785ed2db"]
	if len(fork.Usage) != 1 {
		t.Errorf("the fork has %d answers of its own", len(fork.Usage))
	}
}

func TestTotals(t *testing.T) {
	const (
		used    = `session.usage_record {"usage":{"model":"m","inputTokens":1018,"outputTokens":50,"cacheReadTokens":11,"cacheWriteTokens":7,"maxPromptTokens":64000}}`
		stated  = `session.shutdown {"totalNanoAiu":7,"totalPremiumRequests":2,"currentTokens":900,"modelMetrics":{"m":{"usage":{"inputTokens":100,"outputTokens":10}}}}`
		ownOnly = `session.shutdown {"modelMetrics":{"m":{"usage":{"inputTokens":100,"outputTokens":10}}}}`
	)
	for name, test := range map[string]struct {
		records        []string
		total, context int64 // -1: not known
	}{
		"answers, sub-agents' too":                  {[]string{asked, used, "s@" + used, answers}, 2136, 1018},
		"since 1.0.82, a shutdown is about all":     {[]string{asked, answers, stated, asked, answers, stated}, 110, 900},
		"up to 1.0.12, it is about its own process": {[]string{asked, answers, ownOnly, asked, answers, ownOnly}, 220, 0},
		"answers of a newer version follow":         {[]string{asked, answers, stated, asked, used, answers, stated}, 110 + 1068, 900},
		"an old process was killed":                 {[]string{asked, answers, stated, asked, answers}, -1, 0},
		"a compaction":                              {[]string{asked, used, `session.compaction_complete {"success":true,"postCompactionTokens":300,"compactionTokensUsed":{"model":"m","inputTokens":20,"outputTokens":2}}`}, 1090, 300},
		"what a fork has copied":                    {[]string{asked, used, `session.info {"infoType":"fork","message":"Forked from \"a) as \"b\" (` + idB + `) as \"x\" (` + idA + `)."}`, asked, used}, 1068, 1018},
	} {
		u, err := parse(t, lines(test.records...), workspace{})
		total, context := int64(-1), int64(0)
		if u.Tokens != nil {
			total, context = u.Tokens.Total, u.Tokens.Context
		}
		if err != nil || total != test.total || context != test.context || u.Cost != nil {
			t.Errorf("%s: %+v, %v; want %d, context %d", name, u.Tokens, err, test.total, test.context)
		}
	}
	u, _ := parse(t, lines(asked, stated), workspace{})
	if u.Meta["premiumRequests"] != 2.0 || u.Meta["nanoAiCredits"] != 7.0 {
		t.Errorf("%+v", u.Meta)
	}
}
