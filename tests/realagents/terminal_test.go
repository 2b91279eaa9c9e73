package realagents

import (
	"context"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"agentctl/tests/must"
	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
)

// terminal is agentctl in a terminal, which becomes an agent's interface.
type terminal struct {
	*term.Terminal
	t   *testing.T
	cmd *exec.Cmd
}

// inTerminal runs a command until the test ends.
func (c agentctl) inTerminal(args ...string) terminal {
	c.t.Helper()
	cmd := c.command(args...)
	cmd.Env = append(cmd.Env, "TERM=xterm-256color")
	screen, err := term.Start(cmd)
	must.Do(c.t, err)
	c.t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		screen.Close()
	})
	return terminal{screen, c.t, cmd}
}

// waits waits until the text is on the screen.
func (u terminal) waits(text string) {
	u.t.Helper()
	ctx, cancel := context.WithTimeout(u.t.Context(), 2*time.Minute)
	defer cancel()
	if err := u.WaitFor(ctx, text); err != nil {
		screen, _ := u.Screen()
		u.t.Fatalf("no %q on the screen: %v\n%s", text, err, screen)
	}
}

// submits types a prompt.
func (u terminal) submits(text string) {
	u.t.Helper()
	for _, typed := range []string{text, string(term.Enter)} {
		must.Do(u.t, u.Send(typed))
		u.waits(text)
	}
}

// attach waits until `agentctl attach` shows the session, and checks what it has become.
func (c agentctl) attach(id, text, command string) terminal {
	c.t.Helper()
	u := c.inTerminal("attach", id)
	u.waits(text)
	if line := commandOf(u.cmd.Process.Pid); !strings.Contains(line, command) {
		c.t.Errorf("agentctl became %q", line)
	}
	return u
}

// The session that Claude Code's daemon runs is shown by `claude attach`, which detaches and leaves it running.
func TestAttachClaudeInTheBackground(t *testing.T) {
	w, a, c := newest(t, install.ClaudeCode)
	a.Output("--bg", "in the background [[text It works here.]]")
	id := claudeID(t, w, "in the background [[text")
	if !poll(func() bool { s := c.status(id); return s.Status == "idle" && s.Source == "bg" }) {
		t.Fatalf("it is %s", rowOf(c.status(id)))
	}
	pid := c.status(id).PID
	c.attach(id, "It works here.", " attach "+id[:8])
	if s := c.status(id); s.PID != pid || s.Status != "idle" {
		t.Errorf("attached: %s", rowOf(s))
	}
	c.exits(7, "; attach needs a terminal", "attach", id)
	c.does("stop", id)
}

// The thread that Codex's daemon runs is shown by a terminal interface, whether another one shows it or none.
func TestAttachCodexInItsDaemon(t *testing.T) {
	w, a, c := newest(t, install.Codex)
	first := a.TUI()
	first.Submit("in the daemon [[text It works here.]]")
	first.WaitFor("It works here.")
	id := codexID(t, w, "in the daemon [[text")
	c.expect([]string{row(id, first.PID(), "idle")})
	for _, before := range [][]int{{first.PID()}, nil} {
		u := c.attach(id, "It works here.", " resume --remote unix://")
		want := append(before, u.cmd.Process.Pid, daemonPID(t, w))
		if s := c.status(id); !slices.Equal(s.PIDs, want) || s.Status != "idle" {
			t.Errorf("attached: %s, processes %v, want %v", rowOf(s), s.PIDs, want)
		}
		u.Close()
		first.HangUp()
	}
}

// The session that OpenCode's server runs is shown by `opencode attach`.
func TestAttachOpenCodeServer(t *testing.T) {
	_, a, c := newest(t, install.OpenCode)
	server := a.Serve()
	id := ask(t, serverURL(t, server), a.Dir(), "in the server [[text It works here.]]")
	if !poll(func() bool { return c.status(id).Status == "idle" }) {
		t.Fatalf("it is %s", rowOf(c.status(id)))
	}
	u := c.attach(id, "It works here.", " attach http://127.0.0.1:")
	if s := c.status(id); !slices.Equal(s.PIDs, []int{u.cmd.Process.Pid, server.PID()}) {
		t.Errorf("attached: %s, shown and run by %d", rowOf(s), s.PIDs)
	}
}
