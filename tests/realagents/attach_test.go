package realagents

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
	"agentctl/tests/realagents/world"
)

// attach runs `agentctl attach` in a terminal, and waits until the text is on its screen. It returns the terminal and the process,
// which is the client's by then.
func (c agentctl) attach(id, text string) (*term.Terminal, *exec.Cmd) {
	c.t.Helper()
	cmd := exec.Command(os.Getenv(binary), "attach", id)
	cmd.Env = append([]string{"HOME=" + c.home, "PATH=" + os.Getenv("PATH"), "TERM=xterm-256color"}, c.env...)
	cmd.Dir = c.dir
	terminal, err := term.Start(cmd)
	if err != nil {
		c.t.Fatal(err)
	}
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		terminal.Close()
	})
	limited, cancel := context.WithTimeout(c.t.Context(), time.Minute)
	defer cancel()
	if err := terminal.WaitFor(limited, text); err != nil {
		screen, _ := terminal.Screen()
		c.t.Fatalf("attach %s does not show %q: %v\n%s", id, text, err, screen)
	}
	return terminal, cmd
}

// commandOf is the command line of a process.
func commandOf(pid int) string {
	raw, _ := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "cmdline"))
	return strings.ReplaceAll(strings.TrimRight(string(raw), "\x00"), "\x00", " ")
}

// TestAttachClaudeInTheBackground: the session that the daemon runs is shown by `claude attach`, which detaches and leaves it running.
func TestAttachClaudeInTheBackground(t *testing.T) {
	w := world.New(t)
	a := w.Claude(install.ClaudeCurrent)
	c := agentctlIn(t, w).as(a)
	a.Output("--bg", "in the background [[text It works here.]]")
	id := claudeID(t, w, "in the background [[text")
	if !poll(func() bool { s := c.status(id); return s.Status == "idle" && s.Source == "bg" }) {
		t.Fatalf("it is %s", rowOf(c.status(id)))
	}
	pid := c.status(id).PID
	_, cmd := c.attach(id, "It works here.")
	if line := commandOf(cmd.Process.Pid); !strings.Contains(line, " attach "+id[:8]) {
		t.Errorf("agentctl became %q", line)
	}
	if s := c.status(id); s.PID != pid || s.Status != "idle" {
		t.Errorf("attached: %s", rowOf(s))
	}
	if _, errs, code := c.run("attach", id); code != 7 || !regexp.MustCompile(`runs on /dev/pts/\d+; attach needs a terminal`).MatchString(errs) {
		t.Errorf("without a terminal: exit code %d\n%s", code, errs)
	}
	c.run("stop", id)
}

// TestAttachCodexInItsDaemon: the thread that the daemon runs is shown by a terminal interface, whether another one shows it or none.
func TestAttachCodexInItsDaemon(t *testing.T) {
	w := world.New(t)
	a := w.Codex(install.CodexCurrent)
	c := agentctlIn(t, w).as(a)
	first := a.TUI()
	first.Submit("in the daemon [[text It works here.]]")
	first.WaitFor("It works here.")
	id := codexID(t, w, "in the daemon [[text")
	c.expect([]string{row(id, first.PID(), "idle")})
	for _, hungUp := range []bool{false, true} {
		terminal, cmd := c.attach(id, "It works here.")
		if line := commandOf(cmd.Process.Pid); !strings.Contains(line, " resume --remote unix://") {
			t.Errorf("agentctl became %q", line)
		}
		want := []int{first.PID(), cmd.Process.Pid, daemonPID(t, w)}
		if hungUp {
			want = want[1:]
		}
		if s := c.status(id); !slices.Equal(s.PIDs, want) || s.Status != "idle" {
			t.Errorf("attached, hung up %v: %s, processes %v, want %v", hungUp, rowOf(s), s.PIDs, want)
		}
		terminal.Close()
		if !hungUp {
			first.HangUp()
		}
	}
}

// TestAttachOpenCodeServer: the session that a server runs is shown by `opencode attach`, also while its turn goes on.
func TestAttachOpenCodeServer(t *testing.T) {
	w := world.New(t)
	a := w.OpenCode(install.OpenCodeCurrent)
	c := agentctlIn(t, w).as(a)
	server := a.Serve()
	id := ask(t, serverURL(t, server), a.Dir(), "in the server [[text It works here.]]")
	if !poll(func() bool { return c.status(id).Status == "idle" }) {
		t.Fatalf("it is %s", rowOf(c.status(id)))
	}
	_, cmd := c.attach(id, "It works here.")
	if line := commandOf(cmd.Process.Pid); !strings.Contains(line, " attach http://127.0.0.1:") {
		t.Errorf("agentctl became %q", line)
	}
	if s := c.status(id); !slices.Equal(s.PIDs, []int{cmd.Process.Pid, server.PID()}) {
		t.Errorf("attached: %s, shown and run by %d", rowOf(s), s.PIDs)
	}
}
