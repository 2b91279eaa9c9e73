package realagents

import (
	"bufio"
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"agentctl/tests/realagents/world"
)

// TestInterruptedWaiting: whatever signal ends the waiting of a launch, agentctl says so, and the agent works on; older releases
// are shown one of them.
func TestInterruptedWaiting(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		c := agentctlIn(t, w).as(a)
		signals := []syscall.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP}
		if !newest(a.Release) {
			signals = signals[:1]
		}
		for _, sig := range signals {
			cmd := exec.Command(os.Getenv(binary), "launch", a.Agent(), "--wait", "-p", "think [[hang]]")
			cmd.Env, cmd.Dir = append([]string{"HOME=" + c.home}, c.env...), c.dir
			var errs bytes.Buffer
			cmd.Stderr = &errs
			out, err := cmd.StdoutPipe()
			if err == nil {
				err = cmd.Start()
			}
			if err != nil {
				t.Fatal(err)
			}
			line, err := bufio.NewReader(out).ReadString('\n')
			if err != nil {
				t.Fatalf("%v\n%s", err, errs.String())
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait() // the exit code tells
			if code := cmd.ProcessState.ExitCode(); code != 130 || !strings.Contains(errs.String(), "keeps running") {
				t.Errorf("%s: exit code %d\n%s", sig, code, errs.String())
			}
			id := strings.TrimSpace(line)
			// Codex 0.104 stores the session a moment before its turn, and reads as idle in between.
			var s session
			if !poll(func() bool { s = c.status(id); return s.Status == "running" && s.PID != 0 }) {
				t.Errorf("%s: %s", sig, rowOf(s))
			}
			c.stopped(id)
		}
	})
}

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
