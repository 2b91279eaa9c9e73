package world

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/term"
)

// Process is an agent's process that the test started.
type Process struct {
	w        *World
	cmd      *exec.Cmd
	name     string // of its log files
	pid      int    // of the agent itself
	reaped   chan struct{}
	exitCode int // valid once reaped
}

// started counts and keeps what a world has started.
type started struct {
	mu   sync.Mutex
	list []*Process
}

// add registers a process before its start and names its logs.
func (s *started) add(p *Process) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p.name = fmt.Sprintf("%02d-%s", len(s.list)+1, filepath.Base(p.cmd.Path))
	s.list = append(s.list, p)
}

func (s *started) all() []*Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*Process(nil), s.list...)
}

// start runs the agent detached, with files for stdin, stdout and stderr.
func (a Agent) start(prompt string, args []string) *Process {
	w := a.w
	w.t.Helper()
	p := &Process{w: w, cmd: a.line(context.Background(), args...), reaped: make(chan struct{})}
	w.shared.add(p)
	in, err := w.stdin(prompt)
	w.check(err)
	defer in.Close()
	out, err := w.logFile(p.name + ".out")
	w.check(err)
	defer out.Close()
	errs, err := w.logFile(p.name + ".err")
	w.check(err)
	defer errs.Close()
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = in, out, errs
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	w.check(p.cmd.Start())
	p.begin()
	return p
}

// begin watches a started command and finds the agent's own process behind a launcher.
func (p *Process) begin() {
	p.w.t.Helper()
	go func() {
		_ = p.cmd.Wait()
		p.exitCode = p.cmd.ProcessState.ExitCode()
		close(p.reaped)
	}()
	p.pid = p.cmd.Process.Pid
}

// PID is the process that runs the agent itself, behind whatever launcher.
func (p *Process) PID() int { return p.pid }

// Alive reports whether the agent itself runs; a zombie does not.
func (p *Process) Alive() bool { return alive(p.pid) }

// Signal sends a signal to the agent itself.
func (p *Process) Signal(sig syscall.Signal) {
	p.w.t.Helper()
	p.w.check(syscall.Kill(p.pid, sig))
}

// Kill ends the agent itself at once and returns when it is gone.
func (p *Process) Kill() {
	p.w.t.Helper()
	p.Signal(syscall.SIGKILL)
	p.w.waitUntil("the end of the process", func() bool { return !p.Alive() })
}

// Wait returns the exit code of the started process, -1 for a signal.
func (p *Process) Wait() int {
	p.w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	select {
	case <-p.reaped:
	case <-ctx.Done():
		p.w.t.Fatalf("%s has not ended.\n%s", p.cmd, p.logs())
	}
	return p.exitCode
}

// Stdout and Stderr are what the process has written so far; a terminal's program has neither.
func (p *Process) Stdout() string { return p.read(".out") }

// Stderr is documented with Stdout.
func (p *Process) Stderr() string { return p.read(".err") }

func (p *Process) read(ext string) string {
	raw, _ := os.ReadFile(filepath.Join(p.w.logs(), p.name+ext))
	return string(raw)
}

// logs are for messages.
func (p *Process) logs() string {
	return fmt.Sprintf("%s\n  stdout: %s\n  stderr: %s", p.name, tail(p.Stdout()), tail(p.Stderr()))
}

// These few readings of /proc are the tests' own, so that nothing is believed of the program under test.

// pids are all processes of the machine.
func pids() []int {
	names, _ := filepath.Glob("/proc/[0-9]*")
	var list []int
	for _, n := range names {
		if pid, err := strconv.Atoi(filepath.Base(n)); err == nil {
			list = append(list, pid)
		}
	}
	slices.Sort(list)
	return list
}

// stat is the state letter and the parent of a process; 'X' if there is none.
func stat(pid int) (state byte, parent int) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 'X', 0
	}
	_, rest, _ := strings.Cut(string(raw[bytes.LastIndexByte(raw, ')'):]), " ")
	var letter string
	if _, err := fmt.Sscan(rest, &letter, &parent); err != nil {
		return 'X', 0
	}
	return letter[0], parent
}

func alive(pid int) bool {
	state, _ := stat(pid)
	return state != 'Z' && state != 'X'
}

// livesIn reports whether a living process was started with this home.
func livesIn(pid int, home string) bool {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	return err == nil && slices.Contains(strings.Split(string(raw), "\x00"), "HOME="+home) && alive(pid)
}

// Poll asks again and again, where nothing tells: of what other programs store, and of processes that are not our
// children. Between two asks it leaves the processor to those who are waited for, four times as long as an ask takes. It
// reports whether the answer was yes before patience ran out.
func Poll(patience time.Duration, good func() bool) bool {
	for deadline := time.Now().Add(patience); ; {
		began := time.Now()
		if good() {
			return true
		}
		now := time.Now()
		if now.After(deadline) {
			return false
		}
		<-time.After(max(20*time.Millisecond, 4*now.Sub(began)))
	}
}

func (w *World) waitUntil(what string, good func() bool) {
	w.t.Helper()
	if !Poll(patience, good) {
		w.t.Fatalf("gave up waiting for %s", what)
	}
}

// Tool is a shell command for an agent's tool: it says when it runs and goes on until the test lets it end.
type Tool struct {
	// Command is the command; it needs the directory that the tool was made in to be the working directory.
	Command string

	w        *World
	begun    *os.File
	released *os.File
}

// Tool makes a command for an agent that works in dir.
func (w *World) Tool(dir string) *Tool {
	w.t.Helper()
	n := strconv.FormatInt(time.Now().UnixNano(), 36)
	tool := &Tool{w: w, Command: "echo > begun-" + n + "; head -n 1 released-" + n}
	tool.begun = w.fifo(filepath.Join(dir, "begun-"+n))
	tool.released = w.fifo(filepath.Join(dir, "released-"+n))
	return tool
}

// fifo makes a named pipe and holds both its ends, so that neither side waits for the other to open it.
func (w *World) fifo(path string) *os.File {
	w.t.Helper()
	w.check(syscall.Mkfifo(path, 0o600))
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NONBLOCK, 0)
	w.check(err)
	w.t.Cleanup(func() { _ = f.Close() })
	return f
}

// WaitRunning waits until the command runs.
func (t *Tool) WaitRunning() {
	t.w.t.Helper()
	t.w.check(t.begun.SetReadDeadline(time.Now().Add(patience)))
	if _, err := t.begun.Read(make([]byte, 1)); err != nil {
		t.w.t.Fatalf("the tool does not run: %v", err)
	}
}

// End lets the command end, now or as soon as it waits: the line stays in the pipe that we hold open.
func (t *Tool) End() {
	t.w.t.Helper()
	_, err := t.released.WriteString("end\n")
	t.w.check(err)
}

// TUI is an agent in a terminal.
type TUI struct {
	*Process
	agent string
	term  *term.Terminal
}

// Terminal starts the agent in a terminal and does not wait for anything: it may well ask a question first.
func (a Agent) Terminal(args ...string) *TUI {
	w := a.w
	w.t.Helper()
	p := &Process{w: w, cmd: a.line(context.Background(), args...), reaped: make(chan struct{})}
	w.shared.add(p)
	terminal, err := term.Start(p.cmd)
	w.check(err)
	p.begin()
	tui := &TUI{Process: p, agent: a.Agent(), term: terminal}
	w.t.Cleanup(func() {
		if w.t.Failed() {
			w.t.Logf("screen of %s:\n%s", p.name, tui.Screen())
		}
		tui.HangUp()
	})
	return tui
}

// prompts are what an agent's screen shows when it takes a prompt; any one will do.
func prompts(agent string) []string {
	switch agent {
	case install.ClaudeCode:
		return []string{"? for shortcuts", "/effort", "auto mode on"}
	case install.Codex:
		return []string{"% left", "? for shortcuts", "gpt-5.4 default ·", "⏎ send"}
	case install.Pi:
		return []string{"(auto)"}
	case install.Copilot:
		return []string{"/ commands"}
	default:
		return []string{"Ask anything"}
	}
}

// WaitReady waits until the agent takes a prompt.
func (u *TUI) WaitReady() {
	u.w.t.Helper()
	u.waitUntil("its prompt box", func(screen string) bool {
		for _, sign := range prompts(u.agent) {
			if term.Contains(screen, sign) {
				return true
			}
		}
		return false
	})
}

// WaitFor waits until the text is on the screen.
func (u *TUI) WaitFor(text string) {
	u.w.t.Helper()
	u.waitUntil(text, func(screen string) bool { return term.Contains(screen, text) })
}

// WaitGone waits until the text is on the screen no more.
func (u *TUI) WaitGone(text string) {
	u.w.t.Helper()
	u.waitUntil("the end of "+text, func(screen string) bool { return !term.Contains(screen, text) })
}

func (u *TUI) waitUntil(what string, good func(string) bool) {
	u.w.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := u.term.WaitUntil(ctx, good); err != nil {
		u.w.t.Fatalf("%s, for %q: %v", u.name, what, err)
	}
}

// Answer presses the key until the text, a question, is on the screen no more: agents overlook what is typed in the
// first moments of a question, so that nobody answers it by mistake.
func (u *TUI) Answer(question string, k term.Key) {
	u.w.t.Helper()
	u.WaitFor(question)
	u.w.waitUntil("the end of the question "+question, func() bool {
		u.Press(k)
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		return u.term.WaitUntil(ctx, func(screen string) bool { return !term.Contains(screen, question) }) == nil
	})
}

// HangUp takes the terminal away, as closing its window would.
func (u *TUI) HangUp() { u.term.Close() }

// Screen is the text on the screen.
func (u *TUI) Screen() string {
	screen, _ := u.term.Screen()
	return strings.TrimRight(screen, " \n")
}

// Type types text and waits until it is on the screen.
func (u *TUI) Type(text string) {
	u.w.t.Helper()
	u.w.check(u.term.Send(text))
	u.waitUntil(text, func(screen string) bool { return term.Typed(screen, text) })
}

// Press presses a key.
func (u *TUI) Press(k term.Key) {
	u.w.t.Helper()
	u.w.check(u.term.Send(string(k)))
}

// Submit types a prompt or a command of the agent's and presses Enter: apart, since agents take a text that ends
// in a newline for a paste.
func (u *TUI) Submit(text string) {
	u.w.t.Helper()
	u.Type(text)
	u.Press(term.Enter)
}
