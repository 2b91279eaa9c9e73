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

// Child is an agent's process that [Start] started.
type Child struct {
	// Process is what was started: the agent itself, or a launcher of it.
	Process proc.Process
	// startTime is when it was started, by the clock that agents go by and as exactly as they do, which the kernel's own
	// account of it is not.
	startTime time.Time
	spec      Spec
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

// Start starts the agent so that nothing ties it to us: it leads a session of its own, reads a file, and writes to
// files – without names, or to the one at output. It goes on when we end, however we do. The error is about the file or
// about executing the program; then nothing runs.
func Start(spec Spec, host Environment, output string) (*Child, error) {
	c := &Child{spec: spec, done: make(chan struct{})}
	stdin, err := stdinFile(spec.Stdin)
	if err != nil {
		return nil, err
	}
	defer stdin.Close()
	if err := c.openOutput(output); err != nil {
		return nil, err
	}
	c.cmd = &exec.Cmd{
		Path: spec.Args[0], Args: spec.Args, Dir: spec.Dir,
		Env: spec.environ(host), Stdin: stdin, Stdout: c.stdout.file, Stderr: c.stderr.file,
		SysProcAttr: &syscall.SysProcAttr{Setsid: true},
	}
	c.startTime = time.Now().Truncate(time.Millisecond)
	if err := c.cmd.Start(); err != nil {
		c.Close()
		return nil, err
	}
	// Nobody but us can collect it, so until we do its pid is its own. Should it have ended already, that is all there
	// is to know of it.
	if c.Process, err = proc.Inspect(c.cmd.Process.Pid); err != nil {
		c.Process = proc.Process{ID: proc.ID{PID: c.cmd.Process.Pid}}
	}
	go func() {
		_ = c.cmd.Wait() // how it ended is in the state
		close(c.done)
	}()
	return c, nil
}

// Done is closed once the process has ended.
func (c *Child) Done() <-chan struct{} { return c.done }

// ExitStatus is how the process ended; valid once the process has ended.
func (c *Child) ExitStatus() ExitStatus {
	e := ExitStatus{Code: c.cmd.ProcessState.ExitCode()}
	if status, ok := c.cmd.ProcessState.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		e.Signal = status.Signal()
	}
	return e
}

// Close lets go of the output; the process goes on writing it.
func (c *Child) Close() {
	c.stdout.close()
	c.stderr.close()
}

// isDescendant reports whether p is the child or was started by it. Whatever a launcher in between does or dies of, what it
// starts stays in the kernel session that the child leads, unless it makes its own while its ancestors live.
func (c *Child) isDescendant(table *proc.Table, p proc.Process) bool {
	if p.ID == c.Process.ID {
		return true
	}
	if p.Started.Before(c.Process.Started) {
		return false
	}
	if p.Session == c.Process.ID.PID {
		return true
	}
	for a := range table.Ancestors(p.ID.PID) {
		if a.ID == c.Process.ID {
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
