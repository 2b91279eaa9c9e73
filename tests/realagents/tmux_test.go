package realagents

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/debian"
	"agentctl/tests/realagents/term"
)

// tmux is a server of tmux with one session, and a terminal that shows it.
type tmux struct {
	t       *testing.T
	program string
	socket  string
	env     []string // of its clients too: a window has the PATH of the client that asks for it
	client  *term.Terminal
}

// newTmux starts tmux for a person who runs c, with a window "shell". The copy of c has tmux along its PATH.
func newTmux(t *testing.T, c agentctl) (tmux, agentctl) {
	t.Helper()
	root, err := debian.Find(debian.Tmux())
	switch {
	case err != nil && os.Getenv("CI") == "true":
		t.Fatal(err)
	case err != nil:
		t.Skip(err)
	}
	bin := t.TempDir()
	m := tmux{t: t, program: filepath.Join(bin, "tmux"), socket: filepath.Join(bin, "socket")}
	config := filepath.Join(bin, "config")
	if err := os.WriteFile(config, []byte("set -g status off\nset -g default-terminal xterm-256color\nset -g escape-time 0\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := root.Script(m.program, debian.Tmux().Files[0]); err != nil {
		t.Fatal(err)
	}
	c.env = append(c.env, "PATH="+bin+":"+c.path())
	m.env = c.env
	cmd := exec.Command(m.program, "-S", m.socket, "-f", config, "new-session", "-s", "work", "-n", "shell", "sh")
	cmd.Env, cmd.Dir = c.env, c.dir
	if m.client, err = term.Start(cmd); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = exec.Command(m.program, "-S", m.socket, "kill-server").Run()
		m.client.Close()
		_ = cmd.Wait()
	})
	if !poll(func() bool { return exec.Command(m.program, "-S", m.socket, "has-session").Run() == nil }) {
		t.Fatal("tmux does not start")
	}
	return m, c
}

// run runs a command of tmux and returns what it prints.
func (m tmux) run(args ...string) string {
	m.t.Helper()
	cmd := exec.Command(m.program, append([]string{"-u", "-S", m.socket}, args...)...)
	cmd.Env = m.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return strings.TrimRight(string(out), "\n")
}

// window starts a program in a window of its own, which is not selected.
func (m tmux) window(name, dir string, argv ...string) {
	m.t.Helper()
	m.run(append([]string{"new-window", "-d", "-n", name, "-c", dir}, argv...)...)
}

// shows waits until a window shows a text.
func (m tmux) shows(window, text string) {
	m.t.Helper()
	if !poll(func() bool { return term.Contains(m.run("capture-pane", "-p", "-t", window), text) }) {
		m.t.Fatalf("%s does not show %q:\n%s", window, text, m.run("capture-pane", "-p", "-t", window))
	}
}

// submits types a prompt in a window and presses Enter.
func (m tmux) submits(window, text string) {
	m.t.Helper()
	m.run("send-keys", "-t", window, "-l", text)
	m.shows(window, text)
	m.run("send-keys", "-t", window, "Enter")
}

// answers presses Enter in a window until it does not show a question any more.
func (m tmux) answers(window, question string) {
	m.t.Helper()
	m.shows(window, question)
	if !poll(func() bool {
		m.run("send-keys", "-t", window, "Enter")
		return !term.Contains(m.run("capture-pane", "-p", "-t", window), question)
	}) {
		m.t.Fatalf("%s still shows %q", window, question)
	}
}
