package e2e_test

import (
	"errors"

	"golang.org/x/sys/unix"
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
