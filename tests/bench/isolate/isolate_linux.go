package isolate

import (
	"errors"
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
		cmd.Env = append(os.Environ(), stage+"=1")
		cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
		cmd.SysProcAttr = &attr
		if err := cmd.Start(); err != nil {
			reasons = append(reasons, err)
			continue
		}
		if err := cmd.Wait(); err != nil && cmd.ProcessState == nil {
			return 0, err
		}
		if code := cmd.ProcessState.ExitCode(); code >= 0 {
			return code, nil
		}
		return 1, nil // a signal ended it
	}
	return 0, errors.Join(reasons...)
}

func asRoot() syscall.SysProcAttr {
	return syscall.SysProcAttr{Cloneflags: unix.CLONE_NEWPID | unix.CLONE_NEWNS}
}

// asUser maps only the user itself. The right to mount /proc has to be kept across the exec by name.
func asUser() syscall.SysProcAttr {
	same := func(id int) []syscall.SysProcIDMap {
		return []syscall.SysProcIDMap{{ContainerID: id, HostID: id, Size: 1}}
	}
	return syscall.SysProcAttr{
		Cloneflags:  unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNS,
		UidMappings: same(os.Getuid()), GidMappings: same(os.Getgid()),
		AmbientCaps: []uintptr{unix.CAP_SYS_ADMIN},
	}
}

// mountProc shows the namespace's own processes at /proc, to this program and its children only. Those do not get
// the right to mount.
func mountProc() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return err
	}
	if err := unix.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return err
	}
	return unix.Prctl(unix.PR_CAP_AMBIENT, unix.PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
}
