package launch

import (
	"bufio"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A process that the server has started, and that has left its group, keeps the pipe open. Reading ends with the context all the same.
func TestStdioServerReadingEndsWithContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const script = "setsid sh -c 'echo $$; exec sleep 1000' & exec cat >/dev/null"
	s, err := Environment{Environ: os.Environ()}.StartStdioServer(ctx, t.TempDir(), nil, "/bin/sh", "-c", script)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lines := bufio.NewReader(s.Stdout)
	line, err := lines.ReadString('\n')
	pid, invalid := strconv.Atoi(strings.TrimSpace(line))
	if err != nil || invalid != nil {
		t.Fatal(err, invalid)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGKILL) }()
	cancel()
	if line, err = lines.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("%q, %v", line, err)
	}
}
