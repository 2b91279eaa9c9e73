package realagents

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
)

// TestInsideCodexSandbox: a tool in the sandbox, from which nothing else can be seen, knows its session; nothing outside is
// called stopped, and the guard says that it cannot see who is at work.
func TestInsideCodexSandbox(t *testing.T) {
	w, a, _ := newest(t, install.Codex)
	other := w.Claude(install.ClaudeCurrent).In(a.Dir())
	other.Run("stays at work [[hang]]")
	w.WaitCall("stays at work", 0)
	otherID := idOf(t, w, other, "stays at work")
	ask := func(args string) string { return os.Getenv(binary) + " " + args + "; echo exit $?; " }
	prompt := "look around"
	a.Run(prompt + " [[shell (" + ask("current -q") + ask("status "+otherID) + ask("guard -q") + ") > said 2>&1;; text done]]").Wait()
	raw, err := os.ReadFile(filepath.Join(a.Dir(), "said"))
	if err != nil {
		t.Fatal(err)
	}
	said := string(raw)
	if id := idOf(t, w, a, prompt); !strings.HasPrefix(said, id+"\nexit 0\n") {
		t.Errorf("the tool was told\n%s, its session is %s", said, id)
	}
	if regexp.MustCompile(`(?m)^status +stopped`).MatchString(said) {
		t.Errorf("a live session is called stopped:\n%s", said)
	}
	if !strings.HasSuffix(said, "exit 0\n") || strings.Count(said, "other sessions cannot be seen") != 2 {
		t.Errorf("it is not said what cannot be seen:\n%s", said)
	}
}
