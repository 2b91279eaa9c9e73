package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// serve starts the program proper, collects all that ends, and returns the program's exit code when nothing is left.
// Orphans come to us: as to the first process of a process table, or because we ask for them.
func serve(set Set) int {
	runtime.LockOSThread() // the program is to die with this thread
	signals := passedOn()
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		fmt.Fprintln(os.Stderr, "sandbox: adopting orphans:", err)
		return 1
	}
	// Not by os/exec, which would want to wait for it itself.
	program, err := syscall.ForkExec(self, os.Args, &syscall.ProcAttr{
		Env: environment(stageDone, set), Files: []uintptr{0, 1, 2},
		Sys: &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL},
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "sandbox: starting the program:", err)
		return 1
	}
	go func() {
		for s := range signals {
			_ = unix.Kill(program, s.(syscall.Signal))
		}
	}()
	code := waitFor(program)
	for killChildren(); collectAny(); killChildren() {
		// The end of one may have made its children ours.
	}
	return code
}

// waitFor collects processes until the program has ended, and returns its exit code, 1 for a signal.
func waitFor(program int) int {
	for {
		switch pid, status, err := collect(); {
		case err != nil:
			return 1
		case pid == program && status.Exited():
			return status.ExitStatus()
		case pid == program:
			return 1
		}
	}
}

// collectAny waits until a child has ended; it reports false if there is none.
func collectAny() bool {
	_, _, err := collect()
	return err == nil
}

func collect() (pid int, status unix.WaitStatus, err error) {
	for {
		if pid, err = unix.Wait4(-1, &status, 0, nil); !errors.Is(err, unix.EINTR) {
			return pid, status, err
		}
	}
}

// killChildren kills the processes whose parent we are.
func killChildren() {
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, dir := range dirs {
		pid, err := strconv.Atoi(filepath.Base(dir))
		if err == nil && parentOf(dir) == os.Getpid() {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
	}
}

// parentOf reads the second field behind the name, which is in parentheses; 0 if there is none.
func parentOf(dir string) int {
	raw, _ := os.ReadFile(filepath.Join(dir, "stat"))
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(string(fields[1]))
	return parent
}
