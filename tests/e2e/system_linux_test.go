package e2e_test

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"

	"agentctl/tests/sandbox"
)

// adopt makes ours what has lost its parent.
func becomeSubreaper() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// dead waits until the process has ended, and leaves it a zombie.
func (a *fakeProcess) dead() error {
	for {
		err := unix.Waitid(unix.P_PID, a.cmd.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return err
		}
	}
}

// collect waits until nothing is left of the process's group for the next script to see. What has lost its parent we
// have adopted.
func (a *fakeProcess) collect() {
	for {
		err := unix.Waitid(unix.P_PGID, a.cmd.Process.Pid, nil, unix.WEXITED, nil)
		if err != nil && !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

// binds reports whether a directory can be given another name, for this sandbox alone.
func binds() bool { return sandbox.Inside() && os.Geteuid() == 0 }

func bind(from, to string) error { return unix.Mount(from, to, "", unix.MS_BIND, "") }

func unbind(dir string) error { return unix.Unmount(dir, unix.MNT_DETACH) }

// dropPrivileges takes from the programs that this thread starts the right to read files whatever their mode.
func dropPrivileges() error {
	if unix.Geteuid() != 0 {
		return nil // there is none
	}
	return errors.Join(
		unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_DAC_OVERRIDE, 0, 0, 0),
		unix.Prctl(unix.PR_CAPBSET_DROP, unix.CAP_DAC_READ_SEARCH, 0, 0, 0),
	)
}

// inotify opens a descriptor that watches files.
func inotify() (int, error) { return unix.InotifyInit1(unix.IN_CLOEXEC) }
