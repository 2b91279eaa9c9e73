package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// rerun starts this program in new namespaces and waits for it.
func rerun() (int, error) {
	// The child is to die with us; the kernel goes by the thread that started it.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var reasons []error
	for _, attr := range []syscall.SysProcAttr{asRoot(), asUser()} {
		attr.Pdeathsig = syscall.SIGKILL
		cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
		cmd.Args[0] = os.Args[0]
		cmd.Env = append(os.Environ(), stage+"="+stageSetup)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.SysProcAttr = &attr
		if err := cmd.Start(); err != nil {
			reasons = append(reasons, err)
			continue
		}
		code := guard(cmd)
		if code == setupFailed {
			reasons = append(reasons, errors.New("no loopback in it"))
			continue
		}
		return code, nil
	}
	return 0, errors.Join(reasons...)
}

// guard waits for the program in its namespace and ends whatever it leaves there, also when both are told to end:
// its agents lead sessions of their own, and no signal would reach them.
func guard(cmd *exec.Cmd) (code int) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT)
	defer signal.Stop(signals)
	home := namespaceOf(cmd.Process.Pid)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait()
	}()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s)
			continue
		case <-ended:
		}
		break
	}
	if home != namespaceOf(os.Getpid()) {
		sweep(home)
	}
	if code = cmd.ProcessState.ExitCode(); code < 0 {
		code = 1 // a signal ended it
	}
	return code
}

// namespaceOf names a process's network namespace; "" if it cannot be told.
func namespaceOf(pid int) string {
	name, _ := os.Readlink(fmt.Sprintf("/proc/%d/ns/net", pid))
	return name
}

// sweep kills all processes in the namespace, until a look finds none or they turn out not to end. Only what was
// started in the sandbox can be in it.
func sweep(namespace string) {
	if namespace == "" {
		return
	}
	for deadline := time.Now().Add(10 * time.Second); time.Now().Before(deadline); {
		left := false
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		for _, dir := range dirs {
			pid, err := strconv.Atoi(filepath.Base(dir))
			if err == nil && namespaceOf(pid) == namespace && unix.Kill(pid, unix.SIGKILL) == nil {
				left = true // it may have started another meanwhile
			}
		}
		if !left {
			return
		}
	}
}

func asRoot() syscall.SysProcAttr { return syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWNET} }

// asUser maps only the user itself. The right to set up loopback has to be kept across the exec by name.
func asUser() syscall.SysProcAttr {
	same := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	}
	return syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWNET,
		UidMappings: same(os.Getuid()), GidMappings: same(os.Getgid()),
		AmbientCaps: []uintptr{unix.CAP_NET_ADMIN},
	}
}

// setup brings loopback up and starts the program over, without the rights it took.
func setup() error {
	if err := loopbackUp(); err != nil {
		return err
	}
	// Rights are a thread's own, and the exec keeps this thread's: bubblewrap, for one, refuses to run with any.
	runtime.LockOSThread()
	if err := unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0); err != nil {
		return fmt.Errorf("dropping rights: %w", err)
	}
	if err := os.Setenv(stage, stageDone); err != nil {
		return err
	}
	return syscall.Exec("/proc/self/exe", os.Args, os.Environ())
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
