package realagents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
)

// standIn is a go that prints what `go test -v` does, and the arguments and the variable that choose what is run.
const standIn = `#!/bin/sh
echo "=== RUN   TestDemo"
echo "    demo_test.go:12: a line of a test file"
echo "args: $*; newest: $AGENTCTL_TEST_NEWEST"
echo "--- PASS: TestDemo (1.00s)"
echo "PASS"
printf 'ok  \tagentctl/tests/realagents\t1.0s\n'
`

// tests/demo introduces itself before anything runs, asks for the newest releases only, shows no line of go test or of a test file,
// and is ended after the time that it states.
func TestDemoIntroducesItself(t *testing.T) {
	bin := t.TempDir()
	if err := os.WriteFile(filepath.Join(bin, "go"), []byte(standIn), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "../demo")
	cmd.Env = append(os.Environ(), "PATH="+bin+":"+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text := string(out)
	if !strings.HasPrefix(text, "agentctl with real agents: ") || !strings.Contains(text, "about two minutes, ten at most.\nargs: test ") ||
		!strings.Contains(text, " -timeout 10m ") || !strings.HasSuffix(text, "; newest: 1\n") {
		t.Errorf("it printed\n%s", text)
	}
	for _, unwanted := range []string{"===", "---", "PASS", "ok  ", "_test.go"} {
		if strings.Contains(text, unwanted) {
			t.Errorf("it shows %q:\n%s", unwanted, text)
		}
	}
}

// What tests/demo installs is one release of each agent: the first, and so the newest, that is pinned.
func TestDemoNeedsTheNewestOnly(t *testing.T) {
	t.Setenv(newestOnly, "1")
	got := needed()
	want := []install.Release{
		{Agent: install.ClaudeCode, Version: install.ClaudeCurrent},
		{Agent: install.Codex, Version: install.CodexCurrent},
		{Agent: install.OpenCode, Version: install.OpenCodeCurrent},
	}
	if len(got) != len(want) {
		t.Fatalf("%v, want %v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("%v, want %v", got[i], want[i])
		}
	}
}
