package sandbox

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/tests/must"
)

// part is the environment variable with what this program does when a test runs it again, in a sandbox of its own below ours.
const part = "SANDBOX_TEST_PART"

func TestMain(m *testing.M) {
	if code, ran := Enter(Processes | Network); ran {
		os.Exit(code)
	}
	switch os.Getenv(part) {
	case "":
		os.Exit(m.Run())
	case "fail":
		os.Exit(7)
	case "die":
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
		select {}
	case "look":
		dirs, _ := filepath.Glob("/proc/[0-9]*")
		fmt.Println(os.Getppid(), strings.Join(dirs, " "))
	case "leave", "leave and wait": // a process that leads a session of its own and holds our stdout, and its child, likewise
		cmd := exec.Command("/bin/sh", "-c", "setsid sleep 300 & exec sleep 300")
		cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
		cmd.Stdout = os.Stdout
		fmt.Println("ready", cmd.Start())
		if os.Getenv(part) == "leave and wait" {
			select {}
		}
	}
	os.Exit(0)
}

// nested is this program in a sandbox below ours.
type nested struct {
	*exec.Cmd
	out *os.File
}

// start runs a part. The test is skipped where the system refuses our own sandbox already.
func start(t *testing.T, play string) nested {
	t.Helper()
	if _, got := where(); got != Processes|Network {
		t.Skipf("this system allows a private %s only", got)
	}
	out, in, err := os.Pipe()
	must.Do(t, err)
	defer in.Close()
	t.Cleanup(func() { _ = out.Close() })
	cmd := exec.Command(self)
	cmd.Env = append(Nested(os.Environ()), part+"="+play)
	cmd.Stdout, cmd.Stderr = in, os.Stderr
	must.Do(t, cmd.Start())
	return nested{cmd, out}
}

// end waits for the outermost process, and returns its exit code and all that the sandbox still prints, which ends with the last process that
// could.
func (n nested) end(t *testing.T) (code int, printed string) {
	t.Helper()
	_ = n.Wait()
	_ = n.out.SetReadDeadline(time.Now().Add(2 * time.Minute))
	raw, err := io.ReadAll(n.out)
	if err != nil {
		t.Errorf("something is left: %v", err)
	}
	return n.ProcessState.ExitCode(), string(raw)
}

func TestExitCodes(t *testing.T) {
	for play, want := range map[string]int{"fail": 7, "die": 1} {
		if code, _ := start(t, play).end(t); code != want {
			t.Errorf("%s: the sandbox ends with %d, want %d", play, code, want)
		}
	}
}

// What the program leaves behind ends with it, however it ends, and before the outermost process does.
func TestNothingIsLeft(t *testing.T) {
	for _, s := range []syscall.Signal{0, syscall.SIGTERM, syscall.SIGKILL} {
		n := start(t, map[bool]string{true: "leave", false: "leave and wait"}[s == 0])
		if line, err := bufio.NewReader(n.out).ReadString('\n'); line != "ready <nil>\n" {
			t.Fatalf("%q, %v", line, err)
		}
		_ = n.Process.Signal(s)
		n.end(t)
	}
}

// A fresh process table holds the process that collects orphans, and the program. There is loopback, and it works; there is no other network.
func TestOnlyOurOwnIsSeen(t *testing.T) {
	if code, printed := start(t, "look").end(t); code != 0 || len(strings.Fields(printed)) != 3 || !strings.HasPrefix(printed, "1 /proc/1 ") {
		t.Errorf("exit code %d; the parent, and all processes: %q", code, printed)
	}
	list, err := net.Interfaces()
	must.Do(t, err)
	for _, i := range list {
		if up := i.Flags&net.FlagUp != 0; up != (i.Flags&net.FlagLoopback != 0) {
			t.Errorf("%s: up is %v", i.Name, up)
		}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must.Do(t, err)
	defer l.Close()
	c, err := net.Dial("tcp", l.Addr().String())
	must.Do(t, err)
	_ = c.Close()
}
