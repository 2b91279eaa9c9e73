package sandbox

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"syscall"

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
		err := cmd.Run()
		code := cmd.ProcessState.ExitCode()
		switch {
		case cmd.ProcessState == nil:
			reasons = append(reasons, err)
		case code == setupFailed:
			reasons = append(reasons, errors.New("no loopback in it"))
		case code < 0:
			return 1, nil // a signal ended it
		default:
			return code, nil
		}
	}
	return 0, errors.Join(reasons...)
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
