package sandbox

import (
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// self is the running program, also where its file has been removed.
const self = "/proc/self/exe"

// rerun starts this program in new namespaces and waits for it.
func rerun(set Set) (int, error) {
	// The child is to die with us; the kernel goes by the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var reasons []string
	for _, attr := range []syscall.SysProcAttr{asRoot(set), asUser(set)} {
		attr.Pdeathsig = syscall.SIGKILL
		cmd := exec.Command(self, os.Args[1:]...)
		cmd.Args[0] = os.Args[0]
		cmd.Env = environment(stageSetup, set)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.SysProcAttr = &attr
		if err := cmd.Start(); err != nil {
			reasons = append(reasons, err.Error())
			continue
		}
		code := guard(cmd)
		if code == setupFailed {
			reasons = append(reasons, "it cannot be set up")
			continue
		}
		return code, nil
	}
	return 0, errors.New(strings.Join(reasons, "; as a user: "))
}

// guard waits for the first process of the sandbox, which ends last, and passes on to it what we are told.
func guard(cmd *exec.Cmd) (code int) {
	signals := passedOn()
	defer signal.Stop(signals)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s)
		case <-ended:
			if code = cmd.ProcessState.ExitCode(); code < 0 {
				code = 1 // a signal ended it
			}
			return code
		}
	}
}

// passedOn receives the signals that mean the program, whichever of its processes gets them.
func passedOn() chan os.Signal {
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	return signals
}

func (s Set) namespaces() (flags uintptr) {
	if s&Processes != 0 {
		flags |= unix.CLONE_NEWPID | unix.CLONE_NEWNS
	}
	if s&Network != 0 {
		flags |= unix.CLONE_NEWNET
	}
	return flags
}

func asRoot(set Set) syscall.SysProcAttr { return syscall.SysProcAttr{Cloneflags: set.namespaces()} }

// asUser maps only the user itself. The rights to mount /proc and to bring loopback up have to be kept across the exec
// by name.
func asUser(set Set) syscall.SysProcAttr {
	same := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	}
	return syscall.SysProcAttr{
		Cloneflags:  set.namespaces() | unix.CLONE_NEWUSER,
		UidMappings: same(os.Getuid()), GidMappings: same(os.Getgid()),
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN, unix.CAP_NET_ADMIN},
	}
}
