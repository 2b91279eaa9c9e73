package sandbox

import (
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

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
