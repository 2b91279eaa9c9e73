package realagents

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/realagents/world"
)

// TestWaitForTheBeginningOfATurn: `wait --until any-change` beside an idle terminal ends well when the person asks for the next turn,
// whether the agent's storage or its registry shows the turn first.
func TestWaitForTheBeginningOfATurn(t *testing.T) {
	eachClaude(t, func(t *testing.T, w *world.World, a world.Agent, c agentctl) {
		tui := a.TUI()
		tui.Submit("first of all")
		tui.WaitFor("OK: first of all")
		id := idOf(t, w, a, "first of all")
		for turn := range 5 {
			if !poll(func() bool { return c.status(id).Status == "idle" }) {
				t.Fatalf("the session is %s", c.status(id).Status)
			}
			cmd := exec.Command(os.Getenv(binary), "wait", id, "--until", "any-change")
			var out, errs bytes.Buffer
			cmd.Env, cmd.Stdout, cmd.Stderr = append([]string{"HOME=" + c.home}, c.env...), &out, &errs
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- cmd.Wait() }()
			if !poll(func() bool { return watches(cmd.Process.Pid) }) {
				t.Fatalf("it does not wait\n%s%s", out.String(), errs.String())
			}
			tui.Submit(fmt.Sprintf("and then %d", turn))
			err := <-ended
			t.Logf("turn %d: %q", turn, out.String())
			if err != nil || !strings.HasPrefix(out.String(), id+"  ") {
				t.Errorf("turn %d: %v\n%s%s", turn, err, out.String(), errs.String())
			}
			tui.WaitFor(fmt.Sprintf("OK: and then %d", turn))
		}
	})
}

// watches reports whether a process waits for the end of another one: it has the pidfd of one open.
func watches(pid int) bool {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, f := range files {
		if to, err := os.Readlink(f); err == nil && to == "anon_inode:[pidfd]" {
			return true
		}
	}
	return false
}
