package realagents

import (
	"strings"
	"testing"

	"agentctl/tests/realagents/world"
)

// TestNobodyListens: an agent whose model cannot be reached is a live session, or a failure with its own words.
func TestNobodyListens(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		c := agentctlIn(t, w).as(a)
		if err := w.Model.Close(); err != nil {
			t.Fatal(err)
		}
		out, errs, code := c.run("launch", a.Agent(), "-p", "hello")
		id := strings.TrimSpace(out)
		switch {
		case code == 1 && strings.Contains(errs, "agentctl: error: "+a.Agent()):
		case code == 0 && id != "":
			if s := c.status(id); s.Status != "running" && s.Outcome != "error" {
				t.Error(rowOf(s))
			}
			c.run("stop", id)
		default:
			t.Errorf("exit code %d, %q\n%s", code, out, errs)
		}
		if rows := c.list(); len(rows) > 0 {
			t.Errorf("left: %q", rowsOf(rows))
		}
	})
}
