package realagents

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/world"
)

// TestWaitForTheBeginningOfATurn: `wait --until any-change` beside an idle terminal ends well when the user asks for the next turn,
// whether the agent's storage or its registry shows the turn first. Claude Code 2.1.197 stores the prompt 5 to 130 ms before its
// registry says busy; 2.1.330 does so in some turns. The test suspends the agent between the two, so that nothing else can be read. On a
// busy machine the registry may be first in every turn; then each turn shows that order only. TestABeginningTurnIsAChangeInBothOrders in
// discover/watch shows both, whatever the machine.
func TestWaitForTheBeginningOfATurn(t *testing.T) {
	for _, version := range []string{install.ClaudeCurrent, install.ClaudeMain} {
		t.Run(version, func(t *testing.T) {
			w := world.New(t)
			a := w.Claude(version)
			b := beginning{t: t, w: w, c: agentctlIn(t, w).as(a), tui: a.TUI()}
			b.tui.Submit("first of all")
			b.tui.WaitFor("OK: first of all")
			b.id = idOf(t, w, a, "first of all")
			b.path = b.c.status(b.id).Path
			if version == install.ClaudeCurrent {
				b.turn(0)
				return
			}
			const turns = 8 // on a quiet machine nearly every one is suspended in time
			for n := 0; n < turns && !b.turn(n); n++ {
			}
		})
	}
}

// beginning is a session in a terminal whose turns are watched as they begin.
type beginning struct {
	t        *testing.T
	w        *world.World
	c        agentctl
	tui      *world.TUI
	id, path string
}

// turn begins a turn beside a wait, and checks how the wait ends. early reports whether it saw the prompt stored before the
// registry said busy.
func (b *beginning) turn(n int) (early bool) {
	b.t.Helper()
	if !poll(func() bool { return b.c.status(b.id).Status == "idle" }) {
		b.t.Fatalf("the session is %s", b.c.status(b.id).Status)
	}
	cmd := exec.Command(os.Getenv(binary), "wait", b.id, "--until", "any-change")
	var out, errs bytes.Buffer
	cmd.Env, cmd.Stdout, cmd.Stderr = append([]string{"HOME=" + b.c.home}, b.c.env...), &out, &errs
	if err := cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	if !poll(func() bool { return watches(cmd.Process.Pid) }) {
		b.t.Fatalf("it does not wait\n%s%s", out.String(), errs.String())
	}
	text := fmt.Sprintf("and then %d", n)
	b.tui.Submit(text + " [[hang 2s]]")
	b.awaitStored(text)
	b.tui.Signal(syscall.SIGSTOP)
	early = !b.isBusy()
	err := <-ended
	b.tui.Signal(syscall.SIGCONT)
	b.t.Logf("turn %d: early %v: %q", n, early, out.String())
	if err != nil || !strings.HasPrefix(out.String(), b.id+"  ") {
		b.t.Errorf("turn %d: %v\n%s%s", n, err, out.String(), errs.String())
	}
	if !poll(func() bool {
		text, err := os.ReadFile(b.path)
		return err == nil && bytes.Count(text, []byte("Hang over.")) > n
	}) {
		b.t.Fatalf("turn %d does not end", n)
	}
	return early
}

// awaitStored returns as soon as the transcript has the prompt. It asks much more often than [poll]: only a few milliseconds are left
// then.
func (b *beginning) awaitStored(text string) {
	b.t.Helper()
	size := int64(-1)
	for end := time.Now().Add(time.Minute); time.Now().Before(end); <-time.After(200 * time.Microsecond) {
		info, err := os.Stat(b.path)
		if err != nil || info.Size() == size {
			continue
		}
		size = info.Size()
		if holds(b.t, session{Path: b.path}, text) {
			return
		}
	}
	b.t.Fatalf("the transcript has no %q", text)
}

// isBusy reports whether the registry says that the agent is busy.
func (b *beginning) isBusy() bool {
	entries, _ := filepath.Glob(filepath.Join(b.w.Home, ".claude/sessions/*.json"))
	for _, entry := range entries {
		if text, err := os.ReadFile(entry); err == nil && bytes.Contains(text, []byte(`"busy"`)) {
			return true
		}
	}
	return false
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
