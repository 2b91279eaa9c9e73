package realagents

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestAFailedLaunchPrintsWhatIsTrue when it returns: the session has stopped, and no process runs it. agentctl stands still
// until the agent has ended: else a failure may come later than a launch watches, which is a session of its own.
func TestAFailedLaunchPrintsWhatIsTrue(t *testing.T) {
	for _, f := range []struct {
		agent, env string
		args       []string
	}{
		{install.ClaudeCode, "ANTHROPIC_API_KEY=", nil},
		{install.OpenCode, "", []string{"--model", "anthropic/no-such-model"}},
		{install.Codex, "", []string{"--model", "no-such-model"}},
	} {
		t.Run(f.agent, func(t *testing.T) {
			w := world.New(t)
			a := w.Release(releaseOf(f.agent))
			c := agentctlIn(t, w).as(a)
			prompt := "fails"
			if f.agent == install.Codex { // which asks the model for any name
				prompt = "fails [[error 400]]"
			}
			c.env = append(c.env, f.env)
			out, errs, code := c.runAfterAgent(append([]string{"launch", f.agent, "--json", "-p", prompt}, f.args...)...)
			if code != 1 {
				t.Fatalf("exit code %d\n%s%s", code, out, errs)
			}
			var s session
			if err := json.Unmarshal([]byte(out), &s); err != nil || s.Status != "stopped" || s.PID != 0 || strings.Contains(out, `"pid"`) {
				t.Errorf("%v\n%s%s", err, out, errs)
			}
		})
	}
}

// runAfterAgent runs a launch that goes on only once the agent that it has started has ended: a script in the agent's place
// stops the process that started it, before it becomes the agent.
func (c agentctl) runAfterAgent(args ...string) (stdout, stderr string, code int) {
	c.t.Helper()
	bin, _, _ := strings.Cut(c.path(), ":")
	programs, err := os.ReadDir(bin)
	if err != nil || len(programs) != 1 {
		c.t.Fatalf("%s has %v, %v", bin, programs, err)
	}
	name, stops := programs[0].Name(), c.t.TempDir()
	script := fmt.Sprintf("#!/bin/sh\nkill -STOP $PPID\nexec %q \"$@\"\n", filepath.Join(bin, name))
	if err := os.WriteFile(filepath.Join(stops, name), []byte(script), 0o755); err != nil {
		c.t.Fatal(err)
	}
	c.env = append(c.env, "PATH="+stops+":"+c.path())
	var out, errs bytes.Buffer
	cmd := exec.Command(os.Getenv(binary), args...)
	cmd.Env = append([]string{"HOME=" + c.home}, c.env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &out, &errs
	if err := cmd.Start(); err != nil {
		c.t.Fatal(err)
	}
	var state syscall.WaitStatus
	if _, err := syscall.Wait4(cmd.Process.Pid, &state, syscall.WUNTRACED, nil); err != nil || !state.Stopped() {
		c.t.Fatalf("agentctl starts no agent: %v, wait status %#x\n%s%s", err, state, out.String(), errs.String())
	}
	own := fmt.Sprintf("%d ", cmd.Process.Pid)
	var left []string
	ended := poll(func() bool {
		left = slices.DeleteFunc(inhabitants(c.home), func(s string) bool { return strings.HasPrefix(s, own) })
		return len(left) == 0
	})
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		c.t.Fatal(err)
	}
	_ = cmd.Wait() // the exit code tells
	if !ended {
		c.t.Errorf("the agent does not end: %q", left)
	}
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// releaseOf is the newest of an agent.
func releaseOf(agent string) install.Release {
	for _, r := range install.Newest() {
		if r.Agent == agent {
			return r
		}
	}
	return install.Release{}
}
