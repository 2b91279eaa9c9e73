package sandbox

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// TestNothingIsLeft starts a program in a sandbox of its own that leaves a process behind, in a session of its own,
// and tells the outer program to end: what was left behind ends too.
func TestNothingIsLeft(t *testing.T) {
	if os.Getenv("LEAVE_BEHIND") != "" {
		leaveBehind(t)
		return
	}
	if !Inside() {
		t.Skip("this system allows no network namespace: nothing to sweep")
	}
	outer := exec.Command("/proc/self/exe", "-test.run=^TestNothingIsLeft$", "-test.v")
	outer.Env = append(os.Environ(), "LEAVE_BEHIND=1", stage+"=")
	out, err := outer.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	outer.Stderr = os.Stderr
	if err := outer.Start(); err != nil {
		t.Fatal(err)
	}
	pid, fd := 0, -1
	for lines := bufio.NewScanner(out); pid == 0 && lines.Scan(); {
		if s, ok := strings.CutPrefix(lines.Text(), "left behind: "); ok {
			pid, _ = strconv.Atoi(s)
		}
	}
	if pid != 0 {
		fd, err = unix.PidfdOpen(pid, 0)
	}
	if pid == 0 || err != nil {
		_ = outer.Process.Kill()
		t.Fatalf("nothing was left behind (%d, %v)", pid, err)
	}
	defer unix.Close(fd)
	if err := outer.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	_ = outer.Wait()
	poll := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
	if n, err := unix.Poll(poll, int(time.Minute.Milliseconds())); n != 1 {
		_ = unix.PidfdSendSignal(fd, unix.SIGKILL, nil, 0)
		t.Errorf("the process left behind still runs (%v)", err)
	}
}

func leaveBehind(t *testing.T) {
	cmd := exec.Command("/bin/bash", "-c", "read -r < /dev/zero")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	fmt.Printf("left behind: %d\n", cmd.Process.Pid)
	_ = cmd.Wait() // for the signal that ends us
}
