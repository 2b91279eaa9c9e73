package realagents

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestClaudeHooksOfASeenHome: a home that only a live process names has hooks, which Claude Code runs as it starts. resume
// starts nothing with it, so that none runs; once the user names the home, it does.
func TestClaudeHooksOfASeenHome(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeCurrent)
	c := agentctlIn(t, w).as(a)
	home, mark := filepath.Join(w.Home, "elsewhere"), filepath.Join(w.Home, "hook-ran")
	settings := fmt.Sprintf(`{"hooks":{"SessionStart":[{"hooks":[{"type":"command","command":"touch %s"}]}]}}`, mark)
	err := errors.Join(os.MkdirAll(home, 0o700), os.WriteFile(filepath.Join(home, "settings.json"), []byte(settings), 0o600))
	if err != nil {
		t.Fatal(err)
	}
	there := []string{"claude-code", "--env", "CLAUDE_CONFIG_DIR=" + home, "-p"}
	old := c.launched(append(there, "the first turn")...)
	if out, errs, code := c.run("wait", "--home", home, "--timeout", "1m", old); code != 0 {
		t.Fatalf("wait: exit code %d, %s%s", code, out, errs)
	}
	live := c.launched(append(there, "another session [[hang]]")...)
	w.WaitCall("another session", 0)
	if err := os.Remove(mark); err != nil {
		t.Fatalf("the hook has not run at a launch: %v", err)
	}

	pid := c.status(live).PID
	if out, errs, code := c.run("status", "--json", old); code != 0 || !strings.Contains(out, fmt.Sprintf(`"homeSeenIn": %d`, pid)) {
		t.Errorf("the home is not seen in process %d: exit code %d, %s%s", pid, code, out, errs)
	}
	out, errs, code := c.run("resume", "--force", old, "the second turn")
	if code != 5 || out != "" || !strings.Contains(errs, "--home "+home) {
		t.Errorf("exit code %d, %s%s", code, out, errs)
	}
	if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the hook has run: %v", err)
	}

	if got := c.resumed("--home", home, "--force", old, "the third turn"); !strings.HasPrefix(got, old) {
		t.Errorf("resume printed %s", got)
	}
	w.WaitCall("the third turn", 0)
	if _, err := os.Stat(mark); err != nil {
		t.Errorf("of a home that the user names, the hook runs: %v", err)
	}
}
