package e2e_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"

	"agentctl/proc"
)

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
	table, err := proc.ReadTable(context.Background())
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
		table, err := proc.ReadTable(context.Background())
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
		table, err := proc.ReadTable(context.Background())
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
