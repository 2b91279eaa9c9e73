package launch

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"agentctl/proc"
)

// Execution is an agent's process that a plan has started.
type Execution struct {
	plan *Plan
	// Process is the started process: the agent itself, or a wrapper of it.
	Process proc.Process
	// StartTime is when it was started, by the clock and with the precision of the times that agents store. The start time that
	// the kernel reports has neither.
	StartTime time.Time
	cmd       *exec.Cmd
	stdout    outputFile
	stderr    outputFile
	done      chan struct{}
}

// ExitStatus is how a process ended.
type ExitStatus struct {
	// Code is the exit status, -1 if a signal ended it.
	Code   int
	Signal syscall.Signal // 0 if it ended by itself
}

func (e ExitStatus) String() string {
	if e.Signal != 0 {
		return fmt.Sprintf("ended by %s", e.Signal)
	}
	return fmt.Sprintf("exit status %d", e.Code)
}

// Execute starts the agent so that it is independent of this process, whose end in any way does not affect it: it leads a
// kernel session of its own, reads a file, and writes to unnamed files, or to the one at output. After an error, which is
// that of a file or of executing the program, nothing runs.
func (p *Plan) Execute(output string) (*Execution, error) {
	x := &Execution{plan: p, done: make(chan struct{})}
	stdin, err := stdinFile(p.Spec.Stdin)
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	if err := x.openOutput(output); err != nil {
		return nil, err
	}
	x.cmd = &exec.Cmd{
		Path: p.Spec.Args[0], Args: p.Spec.Args, Dir: p.Spec.Dir,
		Env: p.Spec.environ(p.Environment), Stdin: stdin, Stdout: x.stdout.file, Stderr: x.stderr.file,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	x.StartTime = time.Now().Truncate(time.Millisecond)
	if err := x.cmd.Start(); err != nil {
		x.Close()
		return nil, err
	}
	// Only this process can collect it, so until then no other process has its pid. If it has ended already, the pid is all
	// that is known.
	if x.Process, err = proc.Inspect(x.cmd.Process.Pid); err != nil {
		x.Process = proc.Process{ID: proc.ID{PID: x.cmd.Process.Pid}}
	}
	go func() {
		_ = x.cmd.Wait() // ExitStatus has how it ended
		close(x.done)
	}()
	return x, nil
}

// Done returns a channel that is closed when the process has ended.
func (x *Execution) Done() <-chan struct{} { return x.done }

// HasEnded reports whether the process has ended.
func (x *Execution) HasEnded() bool {
	select {
	case <-x.done:
		return true
	default:
		return false
	}
}

// ExitStatus returns how the process ended. It is valid once the process has ended.
func (x *Execution) ExitStatus() ExitStatus {
	e := ExitStatus{Code: x.cmd.ProcessState.ExitCode()}
	if status, ok := x.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	}
	return e
}

// Close closes the output here; the process goes on writing it.
func (x *Execution) Close() {
	x.stdout.close()
	x.stderr.close()
}

// isDescendant reports whether p is the process or was started by it. What a wrapper has
// started stays in the kernel session of the process, also when the wrapper has ended. A process that makes a session of its
// own is found by its ancestors, as long as they live.
func (x *Execution) isDescendant(table *proc.Table, p proc.Process) bool {
	if p.ID == x.Process.ID {
		return true
	}
	if p.Started.Before(x.Process.Started) {
		return false
	}
	if p.Session == x.Process.ID.PID {
		return true
	}
	for a := range table.Ancestors(p.ID.PID) {
		if a.ID == x.Process.ID {
			return true
		}
	}
	return false
}

// stdinFile makes a file with the text, open at its beginning.
func stdinFile(text string) (*os.File, error) {
	if text == "" {
		return os.Open(os.DevNull)
	}
	f, err := AnonymousFile("stdin")
	if err != nil {
		return nil, err
	}
	_, err = f.WriteString(text)
	if err == nil {
		_, err = f.Seek(0, io.SeekStart)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("keeping the prompt for the agent: %w", err)
	}
	return f, nil
}
