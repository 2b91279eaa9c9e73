package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	adapters "agentctl/discover/agents"
	"agentctl/internal/cli"
	"agentctl/tests/must"
	"agentctl/tests/opencode2"
	"agentctl/tests/realagents/install"
	"agentctl/tests/sandbox"
	"agentctl/tests/support/facts"
)

// The copies of the test binary that TestOpenCode2 makes are the made-up OpenCode 2, and agentctl.
func TestMain(m *testing.M) {
	self, err := os.Executable()
	if err != nil {
		panic(err)
	}
	switch filepath.Base(self) {
	case "opencode":
		os.Exit(opencode2.Main(os.Args[1:]))
	case "agentctl":
		os.Exit(cli.Main(os.Args, cli.NewEnv("v0.0.0-test")))
	}
	if code, ran := sandbox.Enter(sandbox.Processes); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// TestOpenCode2: a program that does what the source says refutes nothing, and its row needs no new explanation. What another program does is seen.
func TestOpenCode2(t *testing.T) {
	raw, err := os.ReadFile("/proc/self/exe")
	must.Do(t, err)
	dir := t.TempDir()
	for _, name := range []string{"opencode", "agentctl"} {
		must.Do(t, os.WriteFile(filepath.Join(dir, name), raw, 0o755))
	}
	var out bytes.Buffer
	r, seen, err := tryOpenCode2(filepath.Join(dir, "opencode"), filepath.Join(dir, "agentctl"), &out)
	if err != nil || r.Version != opencode2.Version || !strings.Contains(out.String(), "\n0 statements refuted\n") {
		t.Errorf("%s: %v\n%s", r, err, out.String())
	}
	for _, s := range seen {
		untried := strings.Contains(" idle waiting send ", " "+s.Fact+" ")
		if (s.Result == facts.Yes || s.Result == facts.Exact) == untried {
			t.Errorf("%s: %s (%s)", s.Fact, s.Result, s.Why)
		}
	}
	p, _ := readPage(t)
	p.set(r, time.Now(), seen)
	text, err := p.text(reasonsFor(p))
	if err != nil || !strings.Contains(text, "\n| 2.0.26 | ") || strings.Contains(text, "not yet seen on the program") {
		t.Errorf("the page: %v\n%s", err, text)
	}
	if _, _, err := tryOpenCode2("/bin/echo", "", &out); err == nil || !strings.Contains(err.Error(), "not OpenCode 2") {
		t.Errorf("another program: %v", err)
	}
}

func readPage(t *testing.T) (page, string) {
	t.Helper()
	text, err := os.ReadFile("../../" + pagePath)
	must.Do(t, err)
	p, err := parsePage(string(text))
	must.Do(t, err)
	return p, string(text)
}

// TestPage: the page is what this command writes, each result that needs it is explained, and there are enough versions.
func TestPage(t *testing.T) {
	p, text := readPage(t)
	if want, err := p.text(reasonsFor(p)); err != nil || text != want {
		t.Errorf("go run ./tests/support writes it anew: %v", err)
	}
	for agent, least := range map[string]int{install.ClaudeCode: 7, install.Codex: 6, install.OpenCode: 5, install.Pi: 2, install.Copilot: 3} {
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
