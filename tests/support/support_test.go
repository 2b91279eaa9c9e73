package main

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	adapters "agentctl/discover/agents"
	"agentctl/tests/realagents/install"
	"agentctl/tests/support/facts"
)

func readPage(t *testing.T) (page, string) {
	t.Helper()
	text, err := os.ReadFile("../../" + pagePath)
	if err != nil {
		t.Fatal(err)
	}
	p, err := parsePage(string(text))
	if err != nil {
		t.Fatal(err)
	}
	return p, string(text)
}

// TestPage: the page is what this command writes, each result that needs it is explained, and there are enough versions.
func TestPage(t *testing.T) {
	p, text := readPage(t)
	if want, err := p.text(reasons()); err != nil || text != want {
		t.Errorf("go run ./tests/support writes it anew: %v", err)
	}
	for agent, least := range map[string]int{install.ClaudeCode: 8, install.Codex: 6, install.OpenCode: 5} {
		if n := len(p.of(agent)); n < least {
			t.Errorf("%s: %d versions, want %d", agent, n, least)
		}
	}
}

// TestNewestTried: doctor and the page name the same versions.
func TestNewestTried(t *testing.T) {
	p, _ := readPage(t)
	n := 0
	for agent, c := range discover.AdaptersWith[discover.FormatChecker](adapters.All()) {
		n++
		if rows := p.of(string(agent)); len(rows) == 0 || rows[0].Version != c.NewestTried() {
			t.Errorf("%s: the page has %v, newestTried in discover is %s", agent, rows, c.NewestTried())
		}
	}
	if n != len(agents()) {
		t.Errorf("%d agents", n)
	}
}

// seen is what a release shows where all is well, but for some facts.
func seen(others map[string]string) (list []facts.Seen) {
	for _, f := range facts.All() {
		s := facts.Seen{Fact: f.Name, Result: facts.Yes}
		if result := others[f.Name]; result != "" {
			s.Result = result
		}
		list = append(list, s)
	}
	return list
}

// TestRowsAreReplaced, the others stay, and the newest version is first.
func TestRowsAreReplaced(t *testing.T) {
	day := time.Date(2026, 11, 25, 1, 2, 3, 0, time.UTC)
	var p page
	p.set(install.Release{Agent: install.Codex, Version: "0.9.0"}, day, seen(map[string]string{"send": "no"}))
	p.set(install.Release{Agent: install.Codex, Version: "0.10.0"}, day, seen(map[string]string{"evidence": facts.Exact}))
	why := []reason{{agent: install.Codex, fact: "send", to: "0.9.9", text: "There is no way."}}
	text, err := p.text(why)
	if err != nil {
		t.Fatal(err)
	}
	again, err := parsePage(text)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := again.text(why); err != nil || back != text {
		t.Errorf("%v\n%s\nread back:\n%s", err, text, back)
	}
	newer, older := strings.Index(text, "\n| 0.10.0 | 2026-11-25 | yes | exact |"), strings.Index(text, "\n| 0.9.0 | 2026-11-25 | yes | yes |")
	if newer < 0 || older < newer || !strings.Contains(text, "\n- **send**, 0.9.0: There is no way.\n") {
		t.Error(text)
	}
	again.set(install.Release{Agent: install.Codex, Version: "0.9.0"}, day.AddDate(0, 0, 1), seen(nil))
	if rows := again.of(install.Codex); len(rows) != 2 || rows[1].tried != "2026-11-26" || slices.Contains(rows[1].results, "no") {
		t.Errorf("%+v", rows)
	}
}

// TestResultsAreExplained: each that is not yes, and by a reason that holds for the version; no reason stays that nothing needs.
func TestResultsAreExplained(t *testing.T) {
	var p page
	p.set(install.Release{Agent: install.OpenCode, Version: "1.2.0"}, time.Now(), seen(map[string]string{"send": "no", "evidence": "weak"}))
	for _, x := range []struct {
		reasons []reason
		want    []string
	}{
		{nil, []string{"opencode-1.2.0, evidence: weak is explained nowhere", "opencode-1.2.0, send: no is explained nowhere"}},
		{[]reason{{install.OpenCode, "send", "1.2.0", "1.2.0", "A."}, {install.OpenCode, "evidence", "", "", "B."}}, nil},
		{
			[]reason{{install.OpenCode, "send", "1.2.1", "", "A."}, {install.Codex, "evidence", "", "", "B."}, {install.OpenCode, "send", "", "1.1.9", "C."}},
			[]string{"evidence: weak is", "send: no is", `the reason "A."`, `the reason "B."`, `the reason "C."`},
		},
	} {
		_, err := p.text(x.reasons)
		if (err == nil) != (x.want == nil) {
			t.Errorf("%+v: %v", x.reasons, err)
		}
		for _, want := range x.want {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%+v: %v, want %q", x.reasons, err, want)
			}
		}
	}
}

// TestPageThatIsDamaged is refused, rather than written anew without its rows.
func TestPageThatIsDamaged(t *testing.T) {
	text := "## codex\n\n" + header() + "\n|---|\n| 1.0.0 | 2026-11-25 | yes |\n"
	if p, err := parsePage(text); err == nil {
		t.Errorf("%+v", p)
	}
	if p, err := parsePage(strings.Replace(text, "| version", "| release", 1)); err != nil || len(p) > 0 {
		t.Errorf("%+v, %v", p, err)
	}
}
