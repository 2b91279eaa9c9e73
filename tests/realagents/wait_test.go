package realagents

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// waiter is an `agentctl wait` beside the test.
type waiter struct {
	t     *testing.T
	cmd   *exec.Cmd
	lines *bufio.Scanner
	errs  bytes.Buffer
}

// waits begins to wait for a session. It has begun for sure when it has told of the other one, which is there already.
func (c agentctl) waits(there, id string, flags ...string) *waiter {
	c.t.Helper()
	w := &waiter{t: c.t, cmd: exec.Command(os.Getenv(binary), append([]string{"wait", there, id}, flags...)...)}
	w.cmd.Env = append([]string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH")}, c.env...)
	w.cmd.Stderr = &w.errs
	out, err := w.cmd.StdoutPipe()
	if err == nil {
		err = w.cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() { _ = w.cmd.Process.Kill(); _ = w.cmd.Wait() }) // it has ended, if all went well
	w.lines = bufio.NewScanner(out)
	if got, want := w.line(), there+"  stopped  completed"; got != want {
		c.t.Fatalf("%q, want %q\n%s", got, want, w.errs.String())
	}
	return w
}

func (w *waiter) line() string {
	w.lines.Scan()
	return w.lines.Text()
}

// expect takes the line and the exit code. It tells how long after the moment that was.
func (w *waiter) expect(line string, code int, since time.Time) {
	w.t.Helper()
	got := w.line()
	w.t.Logf("%s: told after %s", line, time.Since(since).Round(time.Millisecond))
	err := w.cmd.Wait()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatal(err)
	}
	if got != line || w.cmd.ProcessState.ExitCode() != code {
		w.t.Errorf("%q and exit code %d, want %q and %d\n%s", got, w.cmd.ProcessState.ExitCode(), line, code, w.errs.String())
	}
}

// before is a session that has stopped already, for waiters to begin with.
func before(t *testing.T, w *world.World, a world.Agent) string {
	t.Helper()
	a.Run("before all else").Wait()
	id := idOf(t, w, a, "before all else")
	agentctlIn(t, w).expect([]string{row(id, 0, "stopped completed")}, "-a")
	return id
}

// TestWaitTellsHowAHeadlessTurnEnds: by itself, by the model's refusal, or by kill -9.
func TestWaitTellsHowAHeadlessTurnEnds(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world.World, a world.Agent) {
		c := agentctlIn(t, w)
		there := before(t, w, a)

		run := a.Run("ends well [[hang @well]]")
		w.WaitCall("ends well", 0)
		id := idOf(t, w, a, "ends well [[hang @well]]")
		well := c.waits(there, id)
		begun := time.Now()
		w.Model.Release("well")
		well.expect(id+"  stopped  completed", 0, begun)
		if run.Alive() { // Codex lets go of its session before it is gone
			t.Error("its process lives")
		}

		p := a.Run("is killed [[hang]]")
		w.WaitCall("is killed", 0)
		id = idOf(t, w, a, "is killed [[hang]]")
		killed := c.waits(there, id, "--until", "idle")
		begun = time.Now()
		p.Kill()
		killed.expect(id+"  stopped  interrupted", 1, begun)
	})
}

// TestWaitTellsOfALiveTurn in a terminal: its end, and that the user is asked for permission.
func TestWaitTellsOfALiveTurn(t *testing.T) {
	for _, r := range install.Newest() {
		t.Run(r.String(), func(t *testing.T) {
			w := world.New(t)
			c := agentctlIn(t, w)
			a := w.Release(r)
			if r.Agent == install.OpenCode { // which asks for nothing else
				if err := os.WriteFile(filepath.Join(a.Dir(), "opencode.json"), []byte(`{"permission":{"bash":"ask","edit":"ask"}}`), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			there := before(t, w, a)
			tui := a.TUI()
			tui.Submit("in a terminal [[hang 5s]]") // an @ would ask OpenCode for a file's name
			w.WaitCall("in a terminal", 0)
			begun := time.Now()
			id := idOf(t, w, a, "in a terminal [[hang 5s]]")
			c.waits(there, id, "--until", "idle").expect(id+"  idle", 0, begun)
			tui.HangUp()
			if r.Agent == install.ClaudeCode { // later ones decide by themselves
				a = w.Claude(install.ClaudeMain)
			}
			prompt := "asks [[shell touch q]]"
			if r.Agent == install.Codex {
				prompt = "asks [[escalate touch q]]"
			}
			asking := a.TUI()
			asking.Submit(prompt)
			w.WaitCall("asks", 0) // from now on it is not idle
			begun = time.Now()
			id = idOf(t, w, a, prompt)
			c.waits(there, id, "--until", "waiting").expect(id+"  waiting  permission", 0, begun)
			if on := c.status(id).WaitingOn; on == nil || on.Brief != "touch q" || !isShell(on.Tool) {
				t.Errorf("it waits on %+v", on)
			}
			asking.HangUp()
			asking.Wait()
			asksToEdit(t, w, c, a)
		})
	}
}

// isShell tells the tool by which each agent's model runs a command.
func isShell(tool string) bool { return tool == "Bash" || tool == "exec_command" || tool == "bash" }
