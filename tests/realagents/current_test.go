package realagents

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestAToolKnowsItsSession: a command that an agent's tool runs asks which session it is part of, several agents at
// work in the same directory.
func TestAToolKnowsItsSession(t *testing.T) {
	w := world.New(t)
	c := agentctlIn(t, w)
	dir := w.Dir("together")
	for _, r := range install.Newest() {
		t.Run(r.String(), func(t *testing.T) {
			a := w.Release(r).In(dir)
			said := filepath.Join(dir, r.Agent+".said")
			prompt := "who am I in " + r.Agent
			args := map[string][]string{install.Codex: {"--dangerously-bypass-approvals-and-sandbox"}}[r.Agent]
			a.Run(prompt+" [[shell "+os.Getenv(binary)+" current -q > "+said+" 2>&1;; text done]]", args...).Wait()
			raw, err := os.ReadFile(said)
			if err != nil {
				t.Fatal(err)
			}
			if id := idOf(t, w, a, prompt); strings.TrimSpace(string(raw)) != id {
				t.Errorf("the tool was told %q, its session is %s", raw, id)
			}
		})
	}
	if _, errs, code := c.run("current"); code != 8 {
		t.Errorf("outside of any session: exit code %d\n%s", code, errs)
	}
}
