package e2e_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"agentctl/proc"
)

// fakes are the fake agents of one script, by the name that the script gave them.
type fakes struct {
	byName map[string]*fakeProcess
}

// fakeProcess is the process of a fake agent: one line on its stdin is an order, one line on its stdout the answer.
type fakeProcess struct {
	cmd     *exec.Cmd
	orders  io.WriteCloser
	answers *bufio.Scanner
}

// fakesKey finds a script's fakes.
type fakesKey struct{}

func newFakes(env *testscript.Env) *fakes {
	c := &fakes{map[string]*fakeProcess{}}
	env.Defer(func() {
		for _, a := range c.byName {
			_ = unix.Kill(-a.cmd.Process.Pid, syscall.SIGKILL) // and all it started: it leads a group of its own
			a.collect()
			_ = a.cmd.Wait() // closes the pipes; that it was collected is no news
		}
		if err := errors.Join(killLaunched(), killChildren()); err != nil {
			env.T().Fatal(err)
		}
	})
	return c
}

func fakesOf(ts *testscript.TestScript) *fakes { return ts.Value(fakesKey{}).(*fakes) }

// start runs a program and waits until it takes orders.
func (c *fakes) start(ts *testscript.TestScript, name string, cmd *exec.Cmd) {
	if c.byName[name] != nil {
		ts.Fatalf("there is a %s already", name)
	}
	cmd.Dir, cmd.Stderr = ts.MkAbs("."), os.Stderr
	cmd.Env = environ(ts)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	orders, err := cmd.StdinPipe()
	ts.Check(err)
	answers, err := cmd.StdoutPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	a := &fakeProcess{cmd, orders, bufio.NewScanner(answers)}
	c.byName[name] = a
	c.read(ts, name, a)
}

// environ is the script's environment as it stands now.
func environ(ts *testscript.TestScript) []string {
	var out []string
	for _, key := range []string{
		"HOME", "PATH", "TZ", "LANG", "TMPDIR", "AGENTCTL_GROUP", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME", "OPENCODE_DB",
		"CLAUDECODE", "CLAUDE_CODE_SESSION_ID", "NO_COLOR", "TERM", "COLUMNS", "PAGER", "GORACE", "TMUX", "TMUX_PANE",
	} {
		if v := ts.Getenv(key); v != "" {
			out = append(out, key+"="+v)
		}
	}
	return out
}

// tell gives an order and waits until it is carried out.
func (c *fakes) tell(ts *testscript.TestScript, name, order string) {
	a := c.find(ts, name)
	_, err := fmt.Fprintln(a.orders, order)
	ts.Check(err)
	c.read(ts, name, a)
}

// read takes an answer: "ok", with facts as key=value that become the variables name_key; anything else is an error.
func (c *fakes) read(ts *testscript.TestScript, name string, a *fakeProcess) {
	if !a.answers.Scan() {
		ts.Fatalf("%s has gone silent: %v", name, a.answers.Err())
	}
	facts, ok := strings.CutPrefix(a.answers.Text(), "ok")
	if !ok {
		ts.Fatalf("%s: %s", name, a.answers.Text())
	}
	for fact := range strings.FieldsSeq(facts) {
		key, value, _ := strings.Cut(fact, "=")
		ts.Setenv(name+"_"+key, value)
	}
}

func (c *fakes) find(ts *testscript.TestScript, name string) *fakeProcess {
	a := c.byName[name]
	if a == nil {
		ts.Fatalf("there is no %s", name)
	}
	return a
}

// end sends a signal.
func (a *fakeProcess) end(sig syscall.Signal) { _ = unix.Kill(a.cmd.Process.Pid, sig) }

// observing are the commands for what agentctl has launched: it is no process of the script's.
func launchCommands() map[string]command {
	return map[string]command{
		// await FILE…: waits until each is there.
		"await": withArgs(1, func(ts *testscript.TestScript, args []string) {
			for _, name := range args {
				waitUntil(ts, name+" is there", func() bool {
					_, err := os.Stat(ts.MkAbs(name))
					return !errors.Is(err, fs.ErrNotExist)
				})
			}
		}),
		// assign NAME COMMAND…: $NAME is what it prints, which must be a word.
		"assign": withArgs(2, func(ts *testscript.TestScript, args []string) {
			ts.Check(ts.Exec(args[1], args[2:]...))
			words := strings.Fields(ts.ReadFile("stdout"))
			if len(words) != 1 {
				ts.Fatalf("it printed %q", words)
			}
			ts.Setenv(args[0], words[0])
		}),
		// eventually COMMAND…: runs it until its exit code is 0.
		"eventually": withArgs(1, func(ts *testscript.TestScript, args []string) {
			waitUntil(ts, strings.Join(args, " "), func() bool { return ts.Exec(args[0], args[1:]...) == nil })
		}),
		// none-launched: no process lives that a launch has started, nor any of its tools.
		"none-launched": withArgs(0, func(ts *testscript.TestScript, _ []string) {
			if left := launchedProcesses(ts); len(left) > 0 {
				ts.Fatalf("still there:%s", describe(left))
			}
		}),
		// await-listed: waits until the rows of agentctl list, beside the fakes', are those of the processes that launches have
		// started, one each.
		"await-listed": withArgs(0, func(ts *testscript.TestScript, _ []string) {
			waitUntil(ts, "what was launched is what is listed", func() bool {
				var pids []string
				for _, p := range launchedProcesses(ts) {
					pids = append(pids, strconv.Itoa(p.ID.PID))
				}
				ts.Check(ts.Exec("agentctl", "list", "--format", "{{.pid}}"))
				rows := slices.DeleteFunc(strings.Fields(ts.ReadFile("stdout")), func(row string) bool {
					pid, _ := strconv.Atoi(row)
					return fakesOf(ts).has(pid)
				})
				slices.Sort(pids)
				slices.Sort(rows)
				return slices.Equal(pids, rows)
			})
		}),
		// await-none-launched: waits until nobody is there.
		"await-none-launched": withArgs(0, func(ts *testscript.TestScript, _ []string) {
			waitUntil(ts, "everybody is gone", func() bool { return len(launchedProcesses(ts)) == 0 })
		}),
	}
}

// patiently asks until the answer is yes, for as long as a very busy machine may need.
func waitUntil(ts *testscript.TestScript, what string, ask func() bool) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !ask(); <-tick.C {
		if time.Now().After(end) {
			ts.Fatalf("it never came to this: %s", what)
		}
	}
}

// strangers are the live processes that agents and agentctl have started: below us, but neither in the kernel session
// of the test and what it runs, nor below the script's own fakes.
func launchedProcesses(ts *testscript.TestScript) []proc.Process {
	table, err := proc.ReadTable(context.Background(), false)
	ts.Check(err)
	return launched(table, func(pid int) bool { return fakesOf(ts).has(pid) })
}

func launched(table *proc.Table, isFake func(pid int) bool) (out []proc.Process) {
	self, ok := table.ByPID(os.Getpid())
	for p := range table.All() {
		if !ok || !p.Alive() || p.Session == self.Session || isFake(p.ID.PID) {
			continue
		}
		for a := range table.Ancestors(p.ID.PID) {
			if isFake(a.ID.PID) {
				break
			}
			if a.ID == self.ID {
				out = append(out, p)
				break
			}
		}
	}
	return out
}

// has reports whether a process is one of the fakes.
func (c *fakes) has(pid int) bool {
	for _, a := range c.byName {
		if a.cmd.Process.Pid == pid {
			return true
		}
	}
	return false
}

func describe(list []proc.Process) string {
	var b strings.Builder
	for _, p := range list {
		args, _ := p.Args()
		fmt.Fprintf(&b, "\n  %d %q", p.ID.PID, args)
	}
	return b.String()
}

// sweep ends what a script has launched, and collects what has ended.
func killLaunched() error {
	for {
		table, err := proc.ReadTable(context.Background(), false)
		if err != nil {
			return err
		}
		left := launched(table, func(int) bool { return false })
		for _, p := range left {
			_ = unix.Kill(p.ID.PID, unix.SIGKILL) // it may have ended by itself
		}
		self, _ := table.ByPID(os.Getpid())
		for p := range table.All() {
			if p.Parent == os.Getpid() && p.Session != self.Session {
				_, _ = unix.Wait4(p.ID.PID, nil, 0, nil) // it was killed, or is a zombie
			}
		}
		if len(left) == 0 {
			return nil
		}
	}
}

// killChildren kills all processes below this one: what a failed script leaves running in the background, or what a step that hangs waits for.
// testscript interrupts a command, but not what the command has started, and waits for both without a timeout.
func killChildren() error {
	for {
		table, err := proc.ReadTable(context.Background(), false)
		if err != nil {
			return err
		}
		alive := 0
		for p := range table.All() {
			for a := range table.Ancestors(p.ID.PID) {
				if a.ID.PID == os.Getpid() && p.Alive() {
					alive++
					_ = unix.Kill(p.ID.PID, unix.SIGKILL) // it may have ended by itself
				}
			}
		}
		if alive == 0 {
			return nil
		}
	}
}
