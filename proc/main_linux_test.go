package proc

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
	"golang.org/x/sys/unix"

	"agentctl/tests/must"
)

// roleKey is the environment variable that makes this test binary run one of the roles instead of the tests.
const roleKey = "PROC_TEST_ROLE"

// roles are what a child of a test can do. Each prints a line when it is ready; an error ends it with status 1.
func roles() map[string]func() error {
	return map[string]func() error{
		"wait":            roleWait,
		"headless":        roleHeadless,
		"burn":            roleBurn,
		"nobody":          roleNobody,
		"hiding":          roleHiding,
		"hidepid":         roleHidepid,
		"elsewhere":       roleElsewhere,
		"chroot":          roleChroot,
		"denied":          roleDenied,
		"recycle":         roleRecycle,
		"other-namespace": roleOtherNamespace,
	}
}

// init keeps the main goroutine on the main thread, for the role whose main thread ends.
func init() {
	if os.Getenv(roleKey) == "headless" {
		runtime.LockOSThread()
	}
}

// roleHeadless lives on after its main thread has ended.
func roleHeadless() error {
	go func() {
		_ = roleWait()
		os.Exit(0)
	}()
	_, _, err := unix.Syscall(unix.SYS_EXIT, 0, 0, 0)
	return err
}

func TestMain(m *testing.M) {
	name := os.Getenv(roleKey)
	if name == "" {
		goleak.VerifyTestMain(m)
		return
	}
	if err := roles()[name](); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// roleWait is a process that lives until its input ends.
func roleWait() error {
	fmt.Println("ready")
	_, err := io.Copy(io.Discard, os.Stdin)
	return err
}

// child is a process that a test started.
type child struct {
	*exec.Cmd
	stdin io.WriteCloser
	// said is the first line it wrote: it is set up.
	said string
}

// start runs this binary in a role and returns once it is ready. The child ends with the test.
func start(t testing.TB, role string, options ...func(*exec.Cmd)) *child {
	t.Helper()
	c := &child{Cmd: exec.Command("/proc/self/exe")}
	c.Env = append(os.Environ(), roleKey+"="+role, "GORACE=atexit_sleep_ms=0") // a second for each child, else
	c.Stderr = os.Stderr
	for _, option := range options {
		option(c.Cmd)
	}
	var err error
	if c.stdin, err = c.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	stdout, err := c.StdoutPipe()
	must.Do(t, err)
	must.Do(t, c.Start())
	t.Cleanup(func() {
		c.stdin.Close()
		_ = c.Wait()
		if code := c.ProcessState.ExitCode(); code > 0 {
			t.Errorf("role %s ended with status %d", role, code)
		}
	})
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("role %s said nothing: %v", role, err)
	}
	c.said = strings.TrimSuffix(line, "\n")
	return c
}

// end lets the child end and collects it.
func (c *child) end(t testing.TB) {
	t.Helper()
	c.stdin.Close()
	if err := c.Wait(); err != nil {
		t.Fatalf("child: %v", err)
	}
}

// zombify lets the child end and does not collect it.
func (c *child) zombify(t testing.TB) {
	t.Helper()
	c.stdin.Close()
	_, err := retry(func() (int, error) {
		return 0, unix.Waitid(unix.P_PID, c.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	})
	must.Do(t, err)
}

// flags is an option of start: new namespaces.
func flags(clone uintptr) func(*exec.Cmd) {
	return func(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: clone} }
}

func inspect(t testing.TB, pid int) Process {
	t.Helper()
	p, err := Inspect(pid)
	if err != nil {
		t.Fatalf("Inspect(%d): %v", pid, err)
	}
	return p
}

func take(t testing.TB) *Table {
	t.Helper()
	table, err := ReadTable(t.Context(), false)
	must.Do(t, err)
	return table
}

// needRoot skips what only root can set up (namespaces, other users). Continuous integration runs these tests as root.
func needRoot(t testing.TB) {
	t.Helper()
	if os.Geteuid() == 0 {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("under CI=true this test must run as root: it makes namespaces and processes of other users")
	}
	t.Skip("needs root, to make namespaces and processes of other users")
}
