package world

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
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
