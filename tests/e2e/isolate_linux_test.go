package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"

	"golang.org/x/sys/unix"
)

// insideKey marks the process that runs in the private namespaces.
const insideKey = "AGENTCTL_E2E_INSIDE"

// isolated runs the tests again in a pid namespace of their own, so that the only agents to be seen are theirs, and
// so that nothing of theirs outlives them. It reports false where the system does not allow that.
func isolated() (code int, ok bool) {
	flags := uintptr(unix.CLONE_NEWPID | unix.CLONE_NEWNS)
	attr := &syscall.SysProcAttr{Cloneflags: flags, Pdeathsig: syscall.SIGKILL}
	if uid := os.Geteuid(); uid != 0 {
		attr.Cloneflags |= unix.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: uid, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: os.Getegid(), HostID: os.Getegid(), Size: 1}}
		attr.AmbientCaps = []uintptr{unix.CAP_SYS_ADMIN}
	}
	// The shell mounts the namespace's own /proc; where it may not, it says so by an exit code of its own.
	const refused = 99
	script := fmt.Sprintf(`mount --make-rprivate / && mount -t proc proc /proc || exit %d; exec "$0" "$@"`, refused)
	self, err := os.Executable()
	if err != nil {
		return 0, false
	}
	cmd := exec.Command("/bin/sh", append([]string{"-c", script, self}, os.Args[1:]...)...)
	cmd.Env = append(os.Environ(), insideKey+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = attr
	var exit *exec.ExitError
	switch err := cmd.Run(); {
	case err == nil:
		return 0, true
	case errors.As(err, &exit) && exit.ExitCode() != refused:
		return exit.ExitCode(), true
	}
	return 0, false
}
