package main

import (
	"os"
	"testing"

	adapters "agentctl/discover/agents"
	"agentctl/tests/realagents/install"
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
	for agent, least := range map[string]int{install.ClaudeCode: 7, install.Codex: 6, install.OpenCode: 5, install.Pi: 2} {
		if n := len(p.of(agent)); n < least {
			t.Errorf("%s: %d versions, want %d", agent, n, least)
		}
	}
}

// TestNewestTried: doctor and the page name the same versions.
func TestNewestTried(t *testing.T) {
	p, _ := readPage(t)
	n := 0
	for _, a := range adapters.All() {
		n++
		if rows := p.of(string(a.Name())); len(rows) == 0 || rows[0].Version != a.Tried().Newest {
			t.Errorf("%s: the page has %v, newestTried in discover is %s", a.Name(), rows, a.Tried().Newest)
		}
	}
	if n != len(agents()) {
		t.Errorf("%d agents", n)
	}
}
