package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
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

// setup makes the new namespaces ready and starts the program over, without the rights it took.
func setup(set Set) error {
	if set&Processes != 0 {
		if err := mountProc(); err != nil {
			return fmt.Errorf("/proc: %w", err)
		}
	}
	if set&Network != 0 {
		if err := loopbackUp(); err != nil {
			return fmt.Errorf("loopback: %w", err)
		}
	}
	// Rights are a thread's own, and the exec keeps this thread's: bubblewrap, for one, refuses to run with any. All
	// threads have to lose them, or nobody could look at this process in /proc; so it takes an exec.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping rights: %w", err)
	}
	// So is the wish to die with the parent: the kernel knows it of the first thread only, which the exec ends.
	if err := unix.Prctl(unix.PR_SET_PDEATHSIG, uintptr(unix.SIGKILL), 0, 0, 0); err != nil {
		return err
	}
	return syscall.Exec(self, os.Args, environment(stageInit, set))
}

// environment is ours with another stage: see where.
func environment(stage string, set Set) []string {
	var env []string
	for _, e := range os.Environ() {
		if !strings.HasPrefix(e, variable+"=") {
			env = append(env, e)
		}
	}
	return append(env, variable+"="+stage+":"+strconv.Itoa(int(set)))
}

// mountProc shows the namespace's own processes at /proc, to all in this mount namespace only.
func mountProc() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	return unix.Mount("proc", "/proc", "proc", unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, "")
}

func loopbackUp() error {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	q, err := unix.NewIfreq("lo")
	if err != nil {
		return err
	}
	if err := unix.IoctlIfreq(fd, unix.SIOCGIFFLAGS, q); err != nil {
		return err
	}
	q.SetUint16(q.Uint16() | unix.IFF_UP)
	return unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, q)
}
