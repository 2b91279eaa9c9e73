package e2e_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
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
