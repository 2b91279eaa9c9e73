package host

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// fakeSSH is an ssh that runs its command here, where agentctl is this script of sh. PID returns the process of the last one.
func fakeSSH(t *testing.T, agentctl string) (ssh SSH, pid func() int) {
	t.Helper()
	home := t.TempDir()
	bin := filepath.Join(home, ".local/bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	for path, text := range map[string]string{
		filepath.Join(home, "ssh"):     "echo $$ >" + home + "/pid; for last; do :; done; exec sh -c \"$last\"\n",
		filepath.Join(bin, "agentctl"): agentctl,
	} {
		if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return SSH{Path: filepath.Join(home, "ssh"), Environ: []string{"HOME=" + home, "PATH=/usr/bin:/bin"}}, func() int {
		text, _ := os.ReadFile(filepath.Join(home, "pid"))
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return pid
	}
}

// frames prints frames by a script of sh.
func frames(list ...string) string {
	var b strings.Builder
	for _, f := range list {
		fmt.Fprintf(&b, "printf '%%s %%s\\n%%s' %s %d '%s'\n", f[:1], len(f)-1, f[1:])
	}
	return b.String()
}

// Run leaves no ssh behind, however the answer ends and whatever the host does then.
func TestRunLeavesNoProcess(t *testing.T) {
	hello := "h{\"schema\":\"s\"}"
	for name, test := range map[string]struct {
		agentctl string
		cancel   bool
		want     func(error) bool
	}{
		"a whole answer":                {frames(hello, "ox", "x0"), false, func(err error) bool { return err == nil }},
		"a whole answer, and no end":    {frames(hello, "ox", "x0") + "exec sleep 600", false, func(err error) bool { return err == nil }},
		"a whole answer, and much more": {frames(hello, "x0") + "yes", false, func(err error) bool { return err == nil }},
		"no frames, and no end":         {"echo hello; exec sleep 600", false, func(err error) bool { return errors.As(err, new(*VersionError)) }},
		"no answer, and it ends":        {"exit 2", false, func(err error) bool { return errors.As(err, new(*VersionError)) }},
		"no answer, by a lost line":     {"echo 'Connection reset by peer' >&2; exit 255", false, func(err error) bool { return errors.As(err, new(*CutError)) }},
		"interrupted, and it ends":      {frames(hello, "ox") + "cat >/dev/null\n" + frames("x130"), true, func(err error) bool { return err == nil || errors.Is(err, context.Canceled) }},
		"interrupted, and no end":       {frames(hello, "ox") + "exec sleep 600", true, func(err error) bool { return errors.Is(err, context.Canceled) }},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ssh, pid := fakeSSH(t, test.agentctl)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stdout := writerFunc(func([]byte) {
				if test.cancel {
					cancel()
				}
			})
			began := time.Now()
			_, err := ssh.Run(ctx, "h", Request{Schema: "s"}, Output{stdout, new(bytes.Buffer)})
			if !test.want(err) {
				t.Errorf("%v", err)
			}
			if pid() == 0 || !errors.Is(syscall.Kill(pid(), 0), syscall.ESRCH) {
				t.Errorf("ssh, process %d, is there after %v", pid(), time.Since(began))
				_ = syscall.Kill(pid(), syscall.SIGKILL)
			}
		})
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(text []byte) (int, error) {
	f(text)
	return len(text), nil
}
