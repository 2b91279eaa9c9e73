package realagents

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/realagents/world"
)

// That a run may only read is said where it is so, and not where Codex trusts the directory.
func TestCodexHintsWhereItMayOnlyRead(t *testing.T) {
	eachCodex(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		plain := filepath.Join(w.Home, "plain")
		if out, err := exec.Command("git", "init", "-q", plain).CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		for dir, want := range map[string]bool{plain: true, w.Dir("trusted"): false} {
			out, errs, code := c.run("launch", "codex", "--cwd", dir, "-p", "say nothing")
			if code != 0 || strings.Contains(errs, "may only read") != want {
				t.Errorf("%s: exit %d, %s, %q; want the hint: %v", dir, code, out, errs, want)
			}
		}
	})
}
