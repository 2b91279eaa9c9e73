package world

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"agentctl/tests/realagents/install"
)

// Agent is an installed agent in a world; its methods start processes. It is a value: ViaShim gives a
// changed copy.
type Agent struct {
	install.Installation
	w   *World
	dir string
	env []string // beside the world's
}

// In is the agent at work in another directory; use [World.Dir] for one that it trusts.
func (a Agent) In(dir string) Agent { a.dir = dir; return a }

// With is the agent with further variables in its environment; "KEY=" takes one away.
func (a Agent) With(env ...string) Agent { a.env = slices.Concat(a.env, env); return a }

// Dir is where the agent works.
func (a Agent) Dir() string { return a.dir }

// command is the name of the agent's command.
func (a Agent) command() string {
	return map[string]string{install.ClaudeCode: "claude", install.Codex: "codex", install.OpenCode: "opencode", install.Pi: "pi", install.Copilot: "copilot"}[a.Release.Agent]
}

// line is the agent with arguments, not started. Its process is named by the command's first word, as from
// a shell.
func (a Agent) line(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, a.Native, args...)
	cmd.Dir, cmd.Env = a.dir, slices.Concat(a.environ(), a.env)
	return cmd
}

// environ is the world's environment, with what runs the agent first along the PATH, after these folders.
func (a Agent) environ(first ...string) []string {
	if a.Runtime != "" {
		first = append(first, filepath.Dir(a.Runtime))
	}
	env := a.w.env(a.dir)
	for i, variable := range env {
		if path, ok := strings.CutPrefix(variable, "PATH="); ok {
			env[i] = "PATH=" + strings.Join(append(first, path), ":")
		}
	}
	return env
}

// headless are the arguments of a run that reads its prompt from stdin and may use the shell.
func (a Agent) headless() []string {
	switch a.Agent() {
	case install.ClaudeCode:
		return []string{"-p", "--output-format", "stream-json", "--verbose", "--allowedTools=Bash"}
	case install.Codex:
		return []string{"exec", "--json"}
	case install.Pi:
		return []string{"-p", "--mode", "json"}
	case install.Copilot:
		return []string{"--output-format", "json", "--allow-all"}
	default:
		return []string{"run", "--format", "json"}
	}
}

// Agent is the agent's name.
func (a Agent) Agent() string { return a.Release.Agent }

// Run starts the agent headless: claude -p, codex exec, opencode run, pi -p, copilot. It reads the prompt from a file on stdin,
// writes to files and leads a session of its own. Arguments are added to the default ones.
func (a Agent) Run(prompt string, args ...string) *Process {
	a.w.t.Helper()
	args = slices.Concat(a.headless(), args)
	return a.start(prompt, args)
}

// Serve starts opencode serve on a free port, unless the arguments name one. It names the port on its stdout.
func (a Agent) Serve(args ...string) *Process {
	a.w.t.Helper()
	if !slices.Contains(args, "--port") {
		args = slices.Concat([]string{"--port", "0"}, args)
	}
	return a.start("", slices.Concat([]string{"serve"}, args))
}

// Output runs a short command of the agent to its end and returns its stdout.
func (a Agent) Output(args ...string) string {
	a.w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	cmd := a.line(ctx, args...)
	out, err := cmd.Output()
	if err != nil {
		a.w.t.Fatalf("%s: %v", cmd, err)
	}
	return string(out)
}

// TUI starts the agent's full-screen interface and waits until it takes a prompt.
func (a Agent) TUI(args ...string) *TUI {
	a.w.t.Helper()
	tui := a.Terminal(args...)
	tui.WaitReady()
	return tui
}

// stdin is an open file with the prompt, the null device if there is none.
func (w *World) stdin(prompt string) (*os.File, error) {
	if prompt == "" {
		return os.Open(os.DevNull)
	}
	f, err := os.CreateTemp(w.logs(), "prompt-")
	if err != nil {
		return nil, err
	}
	if _, err = f.WriteString(prompt); err == nil {
		_, err = f.Seek(0, 0)
	}
	return f, err
}

func (w *World) logFile(name string) (*os.File, error) {
	return os.OpenFile(filepath.Join(w.logs(), name), os.O_CREATE|os.O_WRONLY|os.O_APPEND|os.O_EXCL, 0o600)
}

// Environ is the environment of a person who works with this release: what agents of this world have, with the
// agent's command first along the PATH – the launcher, where npm puts one there.
func (a Agent) Environ() []string {
	a.w.t.Helper()
	bin := filepath.Join(a.w.base, "bin", a.Release.Agent+"-"+a.Version)
	name := a.command()
	target := a.Native
	if len(a.Shim) == 1 {
		target = a.Shim[0]
	}
	if _, err := os.Lstat(filepath.Join(bin, name)); err != nil {
		a.w.check(os.MkdirAll(bin, 0o755))
		a.w.check(os.Symlink(target, filepath.Join(bin, name)))
	}
	return a.environ(bin)
}
