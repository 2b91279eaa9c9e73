package hostile

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// deadline is how long a run may take: far more than any does, so that a busy machine is no failure.
	deadline = 60 * time.Second
	// grace is how long a run may take to end when it is interrupted.
	grace = 30 * time.Second
	// memory is the most that a run may have resident.
	memory = 300 << 20
	// kept is how much of an output is looked at.
	kept = 32 << 20
)

// call is one run of agentctl: how it is started, and what comes of it.
type call struct {
	args     []string
	dir      string
	env      []string
	stdin    *os.File
	terminal bool          // stdout and stderr are a terminal
	after    time.Duration // if not 0, send is sent after it
	send     syscall.Signal

	out, errs limited
	code      int // -1 if a signal ended it
	signal    syscall.Signal
	took      time.Duration
	cut       bool // the deadline passed
}

// limited keeps the beginning of what is written to it.
type limited struct {
	bytes.Buffer
	more bool
}

func (l *limited) Write(p []byte) (int, error) {
	n := min(len(p), kept-l.Len())
	l.Buffer.Write(p[:n])
	l.more = l.more || n < len(p)
	return len(p), nil
}

func (c *call) json() bool { return slices.Contains(c.args, "--json") || c.verb() == "events" }

// verb is the command, with the word below it where there is one.
func (c *call) verb() string {
	if len(c.args) > 1 && (c.args[0] == "hooks" || c.args[0] == "worktree") {
		return c.args[0] + " " + c.args[1]
	}
	return c.args[0]
}

func (c *call) String() string { return "agentctl " + strings.Join(quoted(c.args), " ") }

func quoted(args []string) []string {
	var out []string
	for _, a := range args {
		if len(a) > 120 {
			a = a[:120] + "…"
		}
		out = append(out, strconv.Quote(a))
	}
	return out
}

// run runs agentctl, and checks all that holds for every run.
func (t *trial) run(args ...string) *call { return t.do(&call{args: args}) }

func (t *trial) do(c *call) *call {
	if t.hung {
		c.cut = true // the rest of the case would hang as well
		return c
	}
	if c.dir == "" {
		c.dir = t.repo
	}
	if c.env == nil {
		c.env = t.env
	}
	cmd := exec.Command(t.Binary, c.args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	if c.stdin != nil {
		cmd.Stdin = c.stdin
	}
	cmd.Stdout, cmd.Stderr = &c.out, &c.errs
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.WaitDelay = grace // what it has left behind may hold its output
	floor := resetPeak()
	begun := time.Now()
	drain, err := c.start(cmd)
	if err != nil {
		t.fail("generator", "%s: %v", c, err)
		return c
	}
	// What takes much more than it may is ended by the system, before others are.
	hard := &unix.Rlimit{Cur: 4 * memory, Max: 4 * memory}
	_ = unix.Prlimit(cmd.Process.Pid, unix.RLIMIT_DATA, hard, nil) // it may have ended
	t.await(c, cmd)
	drain()
	c.took = time.Since(begun)
	status := cmd.ProcessState.Sys().(syscall.WaitStatus)
	if c.code = cmd.ProcessState.ExitCode(); status.Signaled() {
		c.signal = status.Signal()
	}
	t.count(c, cmd.ProcessState.SysUsage().(*syscall.Rusage).Maxrss<<10, floor)
	t.note("%s: exit code %d", c, c.code)
	t.check(c)
	if t.after != nil {
		t.after(c)
	}
	return c
}

// await waits for the end. A run that passes the deadline is interrupted as a person would, and then asked where it is.
func (t *trial) await(c *call, cmd *exec.Cmd) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	signalled := make(<-chan time.Time)
	if c.after > 0 {
		signalled = time.After(c.after)
	}
	limit := time.After(deadline)
	for {
		select {
		case <-ended:
			return
		case <-signalled:
			_ = cmd.Process.Signal(c.send)
			limit = time.After(grace)
		case <-limit:
			c.cut, t.hung = true, true
			t.fail("no end", "%s has not ended in time (signal sent: %v)\n%s", c, c.after > 0, t.stack(c, cmd, ended))
			return
		}
	}
}

// stack interrupts a process that hangs, and if that does not end it, has it print where it is.
func (t *trial) stack(c *call, cmd *exec.Cmd, ended <-chan struct{}) string {
	for _, s := range []syscall.Signal{syscall.SIGINT, syscall.SIGQUIT, syscall.SIGKILL} {
		_ = cmd.Process.Signal(s)
		select {
		case <-ended:
			text := c.errs.String()
			return "it ends by " + s.String() + "\n" + frames(text)
		case <-time.After(10 * time.Second):
		}
	}
	<-ended
	return ""
}

// frames are the lines of a dump that name functions of ours, or else its beginning.
func frames(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		if strings.HasPrefix(strings.TrimSpace(line), "agentctl/") && len(out) < 30 {
			out = append(out, line)
		}
	}
	if len(out) == 0 {
		return start([]byte(text))
	}
	return strings.Join(out, "")
}

// count adds a run to the figures. What this program takes itself counts as the run's: less than that cannot be told.
func (t *trial) count(c *call, rss, floor int64) {
	if floor >= memory {
		t.fail("generator", "the tests themselves take %d MB: what a run takes cannot be told", floor>>20)
	}
	t.Runs[c.verb()]++
	r := run{Args: c.args, Took: c.took}
	if rss > floor+1<<20 {
		r.RSS = rss
	}
	if r.RSS > memory {
		t.fail("memory", "%s takes %d MB", c, rss>>20)
	}
	if r.Took > t.Slowest.Took {
		t.Slowest = r
	}
	if r.RSS > t.Largest.RSS {
		t.Largest = r
	}
}

// resetPeak makes the most that this program has had resident what it has now: the kernel counts it as its children's, whose
// memory it is until they are another program. It returns what it is.
func resetPeak() int64 {
	_ = os.WriteFile("/proc/self/clear_refs", []byte("5"), 0)
	raw, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(raw)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmHWM:" {
			kb, _ := strconv.ParseInt(f[1], 10, 64)
			return kb << 10
		}
	}
	return 0
}

// exitCodes are the documented ones.
func exitCodes() []int { return []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 124, 130} }

// check checks what holds for every run.
func (t *trial) check(c *call) {
	if c.cut {
		return
	}
	passesOn := c.verb() == "lock" && slices.Contains(c.args, "--") // the command's own exit code
	if killed := c.signal != 0 && c.signal == c.send; !killed && !passesOn && !slices.Contains(exitCodes(), c.code) {
		t.fail("exit code", "%s: %d, signal %v\n%s", c, c.code, c.signal, start(c.errs.Bytes()))
	}
	if bytes.Contains(c.errs.Bytes(), []byte("out of memory")) {
		t.fail("memory", "%s: more than it gets\n%s", c, frames(c.errs.String()))
		return
	}
	for _, word := range []string{"panic:", "goroutine 1 [", "fatal error:", "runtime error", "SIGSEGV", "invalid memory address"} {
		if bytes.Contains(c.errs.Bytes(), []byte(word)) {
			t.fail("panic", "%s\n%s\n%s", c, start(c.errs.Bytes()), frames(c.errs.String()))
			break
		}
	}
	if c.code == 6 && !c.terminal && c.errs.Len() == 0 && !slices.Contains(c.args, "--alive") {
		t.fail("silent 6", "%s: exit code 6, and nothing on stderr", c)
	}
	if err := errors.Join(c.clean(), c.valid(), c.reported()); err != nil {
		t.fail("output", "%s: %v", c, err)
	}
}

// start is the beginning of a text.
func start(text []byte) string { return string(text[:min(len(text), 3000)]) }
