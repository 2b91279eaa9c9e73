package realagents

import (
	"slices"
	"strings"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// eachRelease runs the test on every pinned release, in a world of its own.
func eachRelease(t *testing.T, test func(*testing.T, *world.World, world.Agent)) {
	for _, r := range install.Releases() {
		t.Run(r.String(), func(t *testing.T) {
			w := world.New(t)
			test(t, w, w.Release(r))
		})
	}
}

// newest reports whether a release is the newest of its agent. What depends on agentctl rather than on the release is shown with
// fewer repetitions on the others.
func newest(r install.Release) bool { return slices.Contains(currentReleases(), r) }

func TestHeadlessRunCompletes(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		p := a.Run("[[shell echo from-the-tool;; text all is well]]")
		if code := p.Wait(); code != 0 || !strings.Contains(p.Stdout(), "all is well") {
			t.Errorf("exit code %d", code)
		}
		w.WaitCall("from-the-tool", 1)
	})
}

func TestMidToolRunIsAlive(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		tool := w.Tool(a.Dir())
		p := a.Run("[[shell " + tool.Command + ";; text all is well]]")
		tool.WaitRunning()
		if !p.Alive() {
			t.Error("the agent's process is not alive")
		}
		tool.End()
		if code := p.Wait(); code != 0 || p.Alive() {
			t.Errorf("exit code %d, alive: %v", code, p.Alive())
		}
	})
}

func TestTUIAnswers(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		tui := a.TUI()
		tui.Submit("hello you")
		if a.Release.Version == install.OpenCodeJSON { // whose screen may leave out the answer
			w.WaitCall("hello you", 0)
		} else {
			tui.WaitFor("OK: hello you")
		}
		if !tui.Alive() {
			t.Error("the agent's process is not alive")
		}
	})
}
