package realagents

import (
	"context"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestOpenCodeWaitsOnlyWhenItAsks: on a busy machine commands begin late, which is no wait for permission; a headless run
// refuses by itself; a terminal that asks does wait, and says for what. The sessions that must not wait start on a machine that
// is not busy yet, and their first command holds them until it is.
func TestOpenCodeWaitsOnlyWhenItAsks(t *testing.T) {
	w := world.New(t)
	a := w.OpenCode(install.OpenCodeCurrent)
	c := agentctlIn(t, w).as(a)

	first := w.Tool(a.Dir())
	runs := "run [[shell " + first.Command + ";; shell sleep 1]]"
	run := a.Run(runs)
	first.WaitRunning()
	second := w.Tool(a.Dir())
	shows := "tui [[shell " + second.Command + ";; shell sleep 1]]"
	tui := a.TUI()
	tui.Submit(shows)
	second.WaitRunning()
	ends := occupy(t)
	first.End()
	second.End()
	c.neverWaits(map[string]string{openCodeID(t, w, runs): "stopped", openCodeID(t, w, shows): "idle"})
	ends()
	run.Wait()
	tui.HangUp()
	tui.Wait() // one that starts while another ends may find the database locked, and end (SEEN 1.18.33)

	if err := os.WriteFile(filepath.Join(a.Dir(), "opencode.json"), []byte(`{"permission":{"bash":"ask"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	run = a.Run("refuses [[shell touch q]]")
	c.neverWaits(map[string]string{openCodeID(t, w, "refuses [[shell touch q]]"): "stopped"})
	run.Wait()

	asking := a.TUI()
	asking.Submit("asks [[shell touch q]]")
	id := openCodeID(t, w, "asks [[shell touch q]]")
	if !poll(func() bool { return rowOf(c.status(id)) == row(id, asking.PID(), "waiting permission") }) {
		t.Errorf("it is %s, and does not wait for permission", rowOf(c.status(id)))
	}
}

// neverWaits follows sessions until each has its status.
func (c agentctl) neverWaits(until map[string]string) {
	c.t.Helper()
	var status map[string]string
	if !poll(func() bool {
		status = map[string]string{}
		for id := range until {
			status[id] = "stopped"
		}
		for _, s := range c.listAnyway() {
			if s.ID != nil && until[*s.ID] != "" {
				status[*s.ID] = s.Status
			}
		}
		for id, s := range status {
			if s == "waiting" {
				c.t.Errorf("%s waits", id)
			}
		}
		return maps.Equal(status, until)
	}) {
		c.t.Errorf("the sessions are %v, not %v", status, until)
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
