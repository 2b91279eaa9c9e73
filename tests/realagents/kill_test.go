package realagents

import (
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// idOf finds the session of a prompt in the agent's own storage.
func idOf(t *testing.T, w *world.World, a world.Agent, prompt string) string {
	t.Helper()
	switch {
	case a.Agent() == install.ClaudeCode:
		return claudeID(t, w, prompt)
	case a.Agent() == install.Codex:
		return codexID(t, w, prompt)
	}
	return openCodeID(t, w, prompt)
}

// TestKilledAgentIsStoppedInTheNextCall: S9. Whatever files a killed agent leaves, they do not revive it.
func TestKilledAgentIsStoppedInTheNextCall(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		c := agentctlIn(t, w)
		p := a.Run("killed [[hang]]")
		w.WaitCall("killed", 0)
		id := idOf(t, w, a, "killed [[hang]]")
		c.expect([]string{row(id, p.PID(), "running")})
		if out, errs, code := c.run("status", id, "--alive"); code != 0 || out != "" {
			why, _, _ := c.run("status", id, "--explain")
			t.Errorf("status --alive of a live session: exit code %d, %q, %s\n%s", code, out, errs, why)
		}
		p.Kill()
		if rows := c.list(); len(rows) > 0 {
			t.Errorf("after kill -9 there is still %q", rowsOf(rows))
		}
		if got := rowOf(c.status(id)); got != row(id, 0, "stopped interrupted") {
			t.Errorf("after kill -9: %s", got)
		}
		if rows := rowsOf(c.list("-a")); len(rows) != 1 || rows[0] != row(id, 0, "stopped interrupted") {
			t.Errorf("list -a says %q", rows)
		}
		if _, _, code := c.run("status", id, "--alive"); code != 8 {
			t.Errorf("status --alive of a dead session: exit code %d", code)
		}
	})
}

// TestKilledIdleTUIIsCompleted: its last turn had ended well.
func TestKilledIdleTUIIsCompleted(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		c := agentctlIn(t, w)
		tui := a.TUI()
		tui.Submit("hello there")
		// Not the screen: 1.1.65 of OpenCode may show the turn's end and leave out the answer.
		w.WaitCall("hello there", 0)
		id, pid := idOf(t, w, a, "hello there"), tui.PID()
		if a.Release.Version == install.CodexCurrent {
			pid = daemonPID(t, w)
		}
		c.expect([]string{row(id, tui.PID(), "idle")})
		// A turn ends before all of it is in the storage, and a kill in between cuts it.
		fileWith(t, stores(w, a.Agent()), "", endOfTurn(a.Agent()))
		if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		if !poll(func() bool { return !living(pid) }) {
			t.Fatal("it does not die")
		}
		if got := rowOf(c.status(id)); got != row(id, 0, "stopped completed") {
			t.Errorf("after kill -9: %s", got)
		}
	})
}

// endOfTurn is what an agent writes into its storage when a turn has ended well.
func endOfTurn(agent string) string {
	return map[string]string{
		install.ClaudeCode: `"stop_reason":"end_turn"`, install.Codex: `"task_complete"`, install.OpenCode: `"finish"`,
	}[agent]
}

// living reports whether a process runs: a zombie does not.
func living(pid int) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	i := strings.LastIndexByte(string(raw), ')')
	return err == nil && i > 0 && !strings.HasPrefix(string(raw[i:]), ") Z") && !strings.HasPrefix(string(raw[i:]), ") X")
}
