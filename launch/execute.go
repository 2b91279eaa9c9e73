package launch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/discover/storage"
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
		x.Process = proc.Process{ID: proc.ID{PID: x.cmd.Process.Pid}, Session: x.cmd.Process.Pid}
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
	x.stdout.file.Close()
	x.stderr.file.Close() // again, if both streams are one file
}

// isDescendant reports whether p is the process or was started by it. What a wrapper has started stays in the kernel session of the process,
// also when the wrapper has ended. A process that makes a session of its own is found by its ancestors, as long as they live.
func (x *Execution) isDescendant(table *proc.Table, p proc.Process) bool {
	started := proc.Descendants{x.Process.ID: x.Process}
	return p.ID == x.Process.ID || started.Includes(table, p, func(proc.Process) bool { return false })
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

// Exec replaces this process by the agent's program, in our terminal. The kernel lock of a plan ends with this program's
// image. Exec returns only if it fails.
func Exec(spec Spec, host Environment) error {
	if err := os.Chdir(spec.Dir); err != nil {
		return err
	}
	if err := syscall.Exec(spec.Args[0], spec.Args, spec.environ(host)); err != nil {
		return &os.PathError{Op: "exec", Path: spec.Args[0], Err: err}
	}
	return nil
}

// environ is the whole environment of the agent. It is told its directory, too: some believe that more than the kernel.
func (s Spec) environ(host Environment) []string {
	env := append([]string(nil), host.Environ...)
	return append(append(env, s.Env...), "PWD="+s.Dir)
}

// Output is what a process has printed: the beginning and the end of each stream. Most streams are short enough to be complete.
type Output struct {
	Stdout, Stderr []byte
}

// A stream that is longer than both limits together lacks its middle.
const (
	headLimit = 64 << 10
	tailLimit = 1 << 20
)

// outputFile is a file that a process writes to, and the offset at which the process began.
type outputFile struct {
	file   *os.File
	offset int64
}

// openOutput makes the files that the process writes to. Both streams go to the end of the named file, in the order they
// are written.
func (x *Execution) openOutput(path string) (err error) {
	if path != "" {
		if x.stdout.file, err = os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600); err != nil {
			return err
		}
		x.stdout.offset, err = x.stdout.file.Seek(0, io.SeekEnd)
		x.stderr = x.stdout
		return err
	}
	if x.stdout.file, err = AnonymousFile("stdout"); err != nil {
		return err
	}
	if x.stderr.file, err = AnonymousFile("stderr"); err != nil {
		x.stdout.file.Close()
	}
	return err
}

// readOutput returns what the process has printed so far. What cannot be read is missing.
func (x *Execution) readOutput() Output {
	o := Output{Stdout: x.stdout.read()}
	if o.Stderr = o.Stdout; x.stderr.file != x.stdout.file {
		o.Stderr = x.stderr.read()
	}
	return o
}

func (c outputFile) read() []byte {
	info, err := c.file.Stat()
	if err != nil {
		return nil
	}
	size := info.Size() - c.offset
	if size <= headLimit+tailLimit {
		return c.section(0, size)
	}
	return append(c.section(0, headLimit), c.section(size-tailLimit, tailLimit)...)
}

func (c outputFile) section(from, size int64) []byte {
	text, _ := storage.ReadAll(io.NewSectionReader(c.file, c.offset+from, max(size, 0)), headLimit+tailLimit)
	return text
}

// KillTree kills the process and all that it has started, and returns when none of it is left.
func (x *Execution) KillTree(ctx context.Context) error {
	for {
		table, err := proc.ReadTable(ctx, false)
		if err != nil {
			return err
		}
		left := 0
		for p := range table.All() {
			if p.Alive() && x.isDescendant(table, p) {
				left++
				err = errors.Join(err, killProcess(ctx, p.ID))
			}
		}
		if left == 0 || err != nil {
			return err
		}
	}
}

// killProcess kills one process and waits until it is gone.
func killProcess(ctx context.Context, id proc.ID) error {
	h, err := proc.Open(id)
	if err == nil {
		err = h.Signal(unix.SIGKILL)
	}
	if err == nil {
		err = h.Wait(ctx)
	}
	if h != nil {
		err = errors.Join(err, h.Close())
	}
	if errors.Is(err, proc.ErrGone) {
		return nil
	}
	return err
}
