package e2e_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"golang.org/x/sys/unix"
)

// cutting are the commands about how long a program works.
func interruptCommands() map[string]command {
	return map[string]command{
		// measure-cpu PROGRAM ARGS…: runs it, however it ends; $spent is the processor's time that it takes.
		"measure-cpu": withArgs(1, func(ts *testscript.TestScript, args []string) {
			cmd := begun(ts, args)
			_ = cmd.Wait()
			ts.Setenv("spent", used(cmd).String())
		}),
		// cut FILE PROGRAM ARGS…: one SIGINT in the middle of reading FILE, which takes most of $spent, ends a program at once, as
		// a shell sees with 130; it takes no more than a small part of $spent from then on.
		"cut": withArgs(2, func(ts *testscript.TestScript, args []string) {
			spent, err := time.ParseDuration(ts.Getenv("spent"))
			ts.Check(err)
			cmd := begun(ts, args[1:])
			pid := cmd.Process.Pid
			poll := time.NewTicker(time.Millisecond)
			defer poll.Stop()
			before := time.Duration(0)
			for before < spent/3 && !ended(pid) || !reads(pid, ts.MkAbs(args[0])) {
				<-poll.C
				before, err = usedBy(pid)
				ts.Check(err)
			}
			ts.Check(unix.Kill(pid, unix.SIGINT))
			_ = cmd.Wait()
			status := cmd.ProcessState.Sys().(syscall.WaitStatus)
			if status.ExitStatus() != 130 && (!status.Signaled() || status.Signal() != unix.SIGINT) {
				ts.Fatalf("%s", cmd.ProcessState)
			}
			if more := used(cmd) - before; more > spent/4 {
				ts.Fatalf("it goes on for %s, all of it takes %s", more, spent)
			}
		}),
	}
}

func begun(ts *testscript.TestScript, args []string) *exec.Cmd {
	path, err := lookPath(ts, args[0])
	ts.Check(err)
	cmd := &exec.Cmd{Path: path, Args: args, Dir: ts.MkAbs("."), Env: environ(ts)}
	ts.Check(cmd.Start())
	return cmd
}

func used(cmd *exec.Cmd) time.Duration {
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
}

// usedBy is the processor's time that a process has used so far, proc_pid_stat(5).
func usedBy(pid int) (time.Duration, error) {
	const user, system, tick = 11, 12, 10 * time.Millisecond
	fields := statOf(pid)
	if len(fields) <= system {
		return 0, errors.ErrUnsupported
	}
	u, userErr := strconv.Atoi(string(fields[user]))
	s, systemErr := strconv.Atoi(string(fields[system]))
	return time.Duration(u+s) * tick, errors.Join(userErr, systemErr)
}

// statOf is what the kernel says of a process, from its state on.
func statOf(pid int) [][]byte {
	raw, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	return bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
}

// reads reports whether a process has a file open, or has ended.
func reads(pid int, path string) bool {
	fds, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, fd := range fds {
		if to, _ := os.Readlink(fd); to == path {
			return true
		}
	}
	return ended(pid)
}

func ended(pid int) bool {
	state := statOf(pid)
	return len(state) == 0 || string(state[0]) == "Z"
}
