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

// Execution is an agent's process that was started as a plan says.
type Execution struct {
	plan *Plan
	// Process is what was started: the agent itself, or a launcher of it.
	Process proc.Process
	// StartTime is when it was started, by the clock that agents go by and as exactly as they do, which the kernel's own
	// account of it is not.
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

// Execute starts the agent so that nothing ties it to us: it leads a session of its own, reads a file, and writes to
// files – without names, or to the one at output. It goes on when we end, however we do. The error is about the file or
// about executing the program; then nothing runs.
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
	// Nobody but us can collect it, so until we do its pid is its own. Should it have ended already, that is all there
	// is to know of it.
	if x.Process, err = proc.Inspect(x.cmd.Process.Pid); err != nil {
		x.Process = proc.Process{ID: proc.ID{PID: x.cmd.Process.Pid}}
	}
	go func() {
		_ = x.cmd.Wait() // how it ended is in the state
		close(x.done)
	}()
	return x, nil
}

// Done is closed once the process has ended.
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

// ExitStatus is how the process ended; valid once the process has ended.
func (x *Execution) ExitStatus() ExitStatus {
	e := ExitStatus{Code: x.cmd.ProcessState.ExitCode()}
	if status, ok := x.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	}
	return e
}

// Close lets go of the output; the process goes on writing it.
func (x *Execution) Close() {
	x.stdout.close()
	x.stderr.close()
}

// isDescendant reports whether p is the process or was started by it. Whatever a launcher in between does or dies of, what it
// starts stays in the kernel session that the process leads, unless it makes its own while its ancestors live.
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

// stdinFile is a file with the text in it, at its beginning.
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
