package realagents

import (
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// current runs the test on the newest release of each agent, in a world of its own.
func current(t *testing.T, test func(*testing.T, *world.World, world.Agent)) {
	for _, r := range install.Newest() {
		t.Run(r.String(), func(t *testing.T) {
			w := world.New(t)
			test(t, w, w.Release(r))
		})
	}
}

func TestSubAgent(t *testing.T) {
	current(t, func(t *testing.T, w *world.World, a world.Agent) {
		var flags []string
		if a.Agent() == install.Codex {
			flags = []string{"--enable", "multi_agent"}
		}
		p := a.Run("main [[agent sub [[text the sub-agent is done]];; text all is well]]", flags...)
		w.WaitCall("main", 0)
		w.WaitCall("sub [[text", 0)
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

// A hang lasts until the test ends it; the agent that waited goes on.
func TestHangIsReleased(t *testing.T) {
	current(t, func(t *testing.T, w *world.World, a world.Agent) {
		p := a.Run("[[hang @go]]")
		w.WaitCall("[[hang", 0)
		if !p.Alive() {
			t.Error("the agent's process is not alive")
		}
		w.Model.Release("go")
		if code := p.Wait(); code != 0 {
			t.Errorf("exit code %d", code)
		}
	})
}

func TestErrorEndsTheRun(t *testing.T) {
	current(t, func(t *testing.T, w *world.World, a world.Agent) {
		if code := a.Run("[[error 400]]").Wait(); code == 0 {
			t.Error("exit code 0")
		}
	})
}

// The launcher's death leaves the agent alone; PID names the agent, not the launcher.
func TestLauncherMayDie(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		tool := w.Tool(a.Dir())
		p := a.ViaShim().Run("[[shell " + tool.Command + "]]")
		tool.WaitRunning()
		if p.PID() != p.ShimPID() {
			p.KillShim()
		}
		if !p.Alive() {
			t.Error("the agent died with its launcher")
		}
	})
}

// A question stops the turn, and an answer lets it go on.
func TestQuestion(t *testing.T) {
	current(t, func(t *testing.T, w *world.World, a world.Agent) {
		tui := a.TUI()
		if a.Agent() == install.Codex {
			tui.Submit("[[escalate touch q]]")
			tui.Answer("Would you like to run the following command?", term.Enter)
		} else {
			tui.Submit("[[question Which way?]]")
			tui.Answer("1. Yes", term.Enter)
		}
		w.WaitCall("[[", 1)
	})
}
