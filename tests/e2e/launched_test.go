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
func observing() map[string]command {
	return map[string]command{
		// await FILE…: waits until each is there.
		"await": want(1, func(ts *testscript.TestScript, args []string) {
			for _, name := range args {
				patiently(ts, name+" is there", func() bool {
					_, err := os.Stat(ts.MkAbs(name))
					return !errors.Is(err, fs.ErrNotExist)
				})
			}
		}),
		// assign NAME COMMAND…: $NAME is what it prints, which must be a word.
		"assign": want(2, func(ts *testscript.TestScript, args []string) {
			ts.Check(ts.Exec(args[1], args[2:]...))
			words := strings.Fields(ts.ReadFile("stdout"))
			if len(words) != 1 {
				ts.Fatalf("it printed %q", words)
			}
			ts.Setenv(args[0], words[0])
		}),
		// eventually COMMAND…: runs it until its exit code is 0.
		"eventually": want(1, func(ts *testscript.TestScript, args []string) {
			patiently(ts, strings.Join(args, " "), func() bool { return ts.Exec(args[0], args[1:]...) == nil })
		}),
		// nobody: no process lives that a launch has started, nor any of its tools.
		"nobody": want(0, func(ts *testscript.TestScript, _ []string) {
			if left := strangers(ts); len(left) > 0 {
				ts.Fatalf("still there:%s", told(left))
			}
		}),
		// seen: waits until the rows of agentctl list, beside the cast's, are those of the processes that launches have
		// started, one each.
		"seen": want(0, func(ts *testscript.TestScript, _ []string) {
			patiently(ts, "what was launched is what is listed", func() bool {
				var pids []string
				for _, p := range strangers(ts) {
					pids = append(pids, strconv.Itoa(p.ID.PID))
				}
				ts.Check(ts.Exec("agentctl", "list", "--format", "{{.pid}}"))
				rows := slices.DeleteFunc(strings.Fields(ts.ReadFile("stdout")), func(row string) bool {
					pid, _ := strconv.Atoi(row)
					return castOf(ts).plays(pid)
				})
				slices.Sort(pids)
				slices.Sort(rows)
				return slices.Equal(pids, rows)
			})
		}),
		// alone: waits until nobody is there.
		"alone": want(0, func(ts *testscript.TestScript, _ []string) {
			patiently(ts, "everybody is gone", func() bool { return len(strangers(ts)) == 0 })
		}),
	}
}

// patiently asks until the answer is yes, for as long as a very busy machine may need.
func patiently(ts *testscript.TestScript, what string, ask func() bool) {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(time.Minute); !ask(); <-tick.C {
		if time.Now().After(end) {
			ts.Fatalf("it never came to this: %s", what)
		}
	}
}

// strangers are the live processes that agents and agentctl have started: below us, but neither in the kernel session
// of the test and what it runs, nor below the script's own cast.
func strangers(ts *testscript.TestScript) []proc.Process {
	table, err := proc.ReadTable(context.Background())
	ts.Check(err)
	return launched(table, func(pid int) bool { return castOf(ts).plays(pid) })
}

func launched(table *proc.Table, cast func(pid int) bool) (out []proc.Process) {
	self, ok := table.ByPID(os.Getpid())
	for p := range table.All() {
		if !ok || !p.Alive() || p.Session == self.Session || cast(p.ID.PID) {
			continue
		}
		for a := range table.Ancestors(p.ID.PID) {
			if cast(a.ID.PID) {
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

// plays reports whether a process is one of the cast.
func (c *cast) plays(pid int) bool {
	for _, a := range c.actors {
		if a.cmd.Process.Pid == pid {
			return true
		}
	}
	return false
}

func told(list []proc.Process) string {
	var b strings.Builder
	for _, p := range list {
		args, _ := p.Args()
		fmt.Fprintf(&b, "\n  %d %q", p.ID.PID, args)
	}
	return b.String()
}

// sweep ends what a script has launched, and collects what has ended.
func sweep() error {
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

// endBackground kills what a failed script leaves running in the background: testscript interrupts a command, but not what the command
// has started, and waits for both without a timeout.
func endBackground() error {
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
