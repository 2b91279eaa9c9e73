package realagents

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestOpenCodeWaitsOnlyWhenItAsks: on a busy machine commands begin late, which is no wait for permission; a headless run
// refuses by itself; a terminal that asks does wait, and says for what.
func TestOpenCodeWaitsOnlyWhenItAsks(t *testing.T) {
	w := world.New(t)
	a := w.OpenCode(install.OpenCodeCurrent)
	c := agentctlIn(t, w).as(a)
	a.Run("a first start").Wait()
	ends := occupy(t)

	run := a.Run("run [[shell sleep 1]]")
	c.neverWaits(openCodeID(t, w, "run [[shell sleep 1]]"), "stopped")
	run.Wait()
	tui := a.TUI()
	tui.Submit("tui [[shell sleep 1]]")
	c.neverWaits(openCodeID(t, w, "tui [[shell sleep 1]]"), "idle")
	tui.HangUp()

	if err := os.WriteFile(filepath.Join(a.Dir(), "opencode.json"), []byte(`{"permission":{"bash":"ask"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	run = a.Run("refuses [[shell touch q]]")
	c.neverWaits(openCodeID(t, w, "refuses [[shell touch q]]"), "stopped")
	run.Wait()
	ends()

	asking := a.TUI()
	asking.Submit("asks [[shell touch q]]")
	id := openCodeID(t, w, "asks [[shell touch q]]")
	if !poll(func() bool { return rowOf(c.status(id)) == row(id, asking.PID(), "waiting permission") }) {
		t.Errorf("it is %s, and does not wait for permission", rowOf(c.status(id)))
	}
}

// neverWaits follows a session until it has that status.
func (c agentctl) neverWaits(id, until string) {
	c.t.Helper()
	status := ""
	if !poll(func() bool {
		status = "stopped"
		for _, s := range c.listAnyway() {
			if s.ID != nil && *s.ID == id {
				status = s.Status
			}
		}
		if status == "waiting" {
			c.t.Errorf("%s waits", id)
		}
		return status == until
	}) {
		c.t.Errorf("%s is %s, not %s", id, status, until)
	}
}

// occupy keeps all processors busy several times over, until it is told to end or the test does.
func occupy(t *testing.T) (end func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var all []*exec.Cmd
	for range 4 * runtime.NumCPU() {
		cmd := exec.CommandContext(ctx, "sh", "-c", "while :; do :; done")
		if err := cmd.Start(); err != nil {
			cancel()
			t.Fatal(err)
		}
		all = append(all, cmd)
	}
	end = func() {
		cancel()
		for _, cmd := range all {
			_ = cmd.Wait()
		}
		all = nil
	}
	t.Cleanup(end)
	return end
}
