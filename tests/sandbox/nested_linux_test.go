package sandbox

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
)

// nested is this program in a sandbox below ours.
type nested struct {
	*exec.Cmd
	out *os.File
}

// start runs a part in a sandbox. The test is skipped where the system refuses ours already.
func start(t *testing.T, play string, set Set, wrap ...string) nested {
	t.Helper()
	if !got(set) {
		t.Skipf("this system allows no private %s", set)
	}
	out, in, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	t.Cleanup(func() { _ = out.Close() })
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args := append(wrap, program)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), variable+"=", part+"="+play, want+"="+strconv.Itoa(int(set)))
	cmd.Stdout, cmd.Stderr = in, os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return nested{cmd, out}
}

// rest is all that the sandbox still prints: it ends with the last process that could.
func (n nested) rest(t *testing.T) string {
	t.Helper()
	if err := n.out.SetReadDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	raw, err := io.ReadAll(n.out)
	if err != nil {
		t.Errorf("something is left: %v", err)
	}
	return strings.TrimSpace(string(raw))
}

func (n nested) waitReady(t *testing.T) {
	t.Helper()
	if line, err := bufio.NewReader(n.out).ReadString('\n'); line != ready+"\n" {
		t.Fatalf("%q, %v", line, err)
	}
}

// code waits for the outermost process.
func (n nested) code() int {
	_ = n.Wait()
	return n.ProcessState.ExitCode()
}
