package sandbox

import (
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// The environment variables of this test program when a test runs it again in a sandbox of its own: the part it plays
// there, and what it wants.
const (
	part = "SANDBOX_TEST_PART"
	want = "SANDBOX_TEST_WANT"
)

func wanted() Set {
	if n, err := strconv.Atoi(os.Getenv(want)); err == nil {
		return Set(n)
	}
	return Processes | Network
}

// parts are what the program does in a nested sandbox; the result is its exit code.
func parts() map[string]func() int {
	return map[string]func() int{
		"fail": func() int { return 7 },
		"die": func() int {
			_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
			select {}
		},
		"tell": func() int {
			stage, set := where()
			fmt.Println(stage, int(set))
			return 0
		},
		"look": func() int {
			dirs, _ := filepath.Glob("/proc/[0-9]*")
			fmt.Println(os.Getppid(), strings.Join(dirs, " "))
			return 0
		},
		"heed": func() int {
			signals := make(chan os.Signal, 1)
			signal.Notify(signals, syscall.SIGTERM)
			fmt.Println(ready)
			<-signals
			return 9
		},
		"leave":          leaveBehind,
		"leave and wait": func() int { leaveBehind(); select {} },
	}
}

// ready is what a part says that waits for the test.
const ready = "ready"

// leaveBehind starts a process that leads a session of its own and holds our stdout, and its child, likewise.
func leaveBehind() int {
	cmd := exec.Command("/bin/sh", "-c", "setsid sleep 300 & exec sleep 300")
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	cmd.Stdout = os.Stdout
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		return 1
	}
	fmt.Println(ready)
	return 0
}
