package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/tests/must"
)

// fakeSSH is an ssh that runs its command here, where agentctl is this script of sh. PID returns the process of the last one.
func fakeSSH(t *testing.T, agentctl string) (ssh SSH, pid func() int) {
	t.Helper()
	home := t.TempDir()
	bin := filepath.Join(home, ".local/bin")
	must.Do(t, os.MkdirAll(bin, 0o755))
	for path, text := range map[string]string{
		filepath.Join(home, "ssh"): "test -e " + home + "/pid && exit 1; echo $$ >" + home + "/pid; for last; do :; done; shell=/bin/sh; test ! -e " + home +
			"/shell || shell=" + home + "/shell; exec $shell -c \"$last\"\n",
		filepath.Join(bin, "agentctl"): "set -- $AGENTCTL_CALLER\n" + agentctl,
	} {
		must.Do(t, os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o755))
	}
	if shell, ok := strings.CutPrefix(agentctl, "SHELL "); ok {
		must.Do(t, os.WriteFile(filepath.Join(home, "shell"), []byte("#!/bin/sh\n"+shell), 0o755))
	}
	return SSH{Path: filepath.Join(home, "ssh"), Environ: []string{"HOME=" + home, "PATH=/usr/bin:/bin"}}, func() int {
		text, _ := os.ReadFile(filepath.Join(home, "pid"))
		pid, _ := strconv.Atoi(strings.TrimSpace(string(text)))
		return pid
	}
}

// Run says what is wrong with an answer, and leaves no ssh behind, however the answer ends and whatever the host does then.
func TestRun(t *testing.T) {
	const (
		hello = "echo $1 s linux amd64 v1; "
		end   = "echo; echo $1 0; "
	)
	for name, test := range map[string]struct {
		agentctl string
		cancel   bool
		want     string
	}{
		"a whole answer":                {hello + "echo x; " + end, false, ""},
		"a whole answer, and no end":    {hello + "echo x; " + end + "exec sleep 600", false, ""},
		"a whole answer, and much more": {hello + end + "exec yes", false, ""},
		"another contract":              {"echo $1 t linux amd64 v1; exit 6", false, "its agentctl v1 prints t, and this one reads s"},
		"no hello":                      {"echo hello; exit 3", false, "its agentctl is of a version that cannot be asked from here"},
		"no hello, and no line break":   {"exec tr -d '\\n' </dev/zero", false, "its agentctl is of a version that cannot be asked from here"},
		"no hello, and no end":          {"exec sleep 600", false, "the connection is there, and nothing answers"},
		"hello, and no end":             {hello + "echo x; exec sleep 600", false, "the connection is there, and nothing answers"},
		"warnings without an end":       {hello + "exec yes '{\"warning\":{\"message\":\"a warning\"}}' >&2", false, "its warnings have no end"},
		"lost before it begins":         {"echo 'Connection reset by peer' >&2; exit 255", false, "the connection has ended: Connection reset by peer"},
		"lost in the middle":            {hello + "echo x; echo '{\"a\":1}' >&2; echo 'client_loop: broken' >&2; exit 255", false, "the connection has ended: client_loop: broken"},
		"an exit code of its own":       {hello + "echo oops >&2; exit 42", false, "its agentctl has ended with exit code 42: oops"},
		"not reached":                   {"SHELL echo 'ssh: connect to host a port 1: Connection refused' >&2; exit 255", false, "it cannot be reached: connect to host a port 1: Connection refused"},
		"lost before the marker":        {"SHELL echo 'Timeout, server a not responding.' >&2; exit 255", false, "the connection has ended: Timeout, server a not responding"},
		"no login":                      {"SHELL echo 'This account is not available.'; exit 1", false, "its login shell does not run agentctl: This account is not available"},
		"a restricted shell":            {"SHELL echo Welcome; echo 'rbash: exec: restricted' >&2; exit 1", false, "its login shell does not run agentctl: rbash: exec: restricted"},
		"an endless banner":             {"SHELL exec yes", false, "its login shell prints more than can be an answer"},
		"interrupted, and it ends":      {hello + "echo x; cat >/dev/null; echo; echo $1 130", true, "context canceled"},
		"interrupted, and no end":       {hello + "echo x; exec sleep 600", true, "context canceled"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ssh, pid := fakeSSH(t, test.agentctl)
			if strings.Contains(test.want, "nothing answers") {
				ssh.silence = time.Second
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			stdout := writerFunc(func([]byte) error {
				if test.cancel {
					cancel()
				}
				return nil
			})
			began := time.Now()
			got := ""
			if _, err := ssh.Run(ctx, "h", Request{Schema: "s", Args: []string{"list"}}, stdout, new(bytes.Buffer)); err != nil {
				got = err.Error()
			}
			if got != test.want && !(test.cancel && got == "") {
				t.Errorf("%q, want %q", got, test.want)
			}
			if pid() == 0 || !errors.Is(syscall.Kill(pid(), 0), syscall.ESRCH) {
				t.Errorf("ssh, process %d, is there after %v", pid(), time.Since(began))
				_ = syscall.Kill(pid(), syscall.SIGKILL)
			}
		})
	}
}

// A host that says that it works is waited for, and a reader that takes its time is not the host's silence.
func TestSlowAnswer(t *testing.T) {
	t.Parallel()
	ssh, _ := fakeSSH(t, "echo $1 s linux amd64 v1; for i in 1 2 3 4 5 6; do sleep 0.4; echo >&2; done; echo x; echo y; echo; echo $1 8")
	ssh.silence = 2 * time.Second
	answer, err := ssh.Run(t.Context(), "h", Request{Schema: "s", Args: []string{"list"}}, writerFunc(func([]byte) error {
		<-time.After(2500 * time.Millisecond / 3)
		return nil
	}), io.Discard)
	if err != nil || answer != (Answer{Hello{"s", "linux", "amd64", "v1"}, 8}) {
		t.Errorf("%+v, %v", answer, err)
	}
}

// Whatever arrives is an answer or an error, and what the command prints is passed on as it is.
func FuzzReceive(f *testing.F) {
	f.Add([]byte("banner m\nm\nm s linux amd64 v1\nhi\nm 8\n"))
	f.Add([]byte("m Linux x86_64\n"))
	f.Add([]byte("m\nm t linux amd64 v1\n"))
	f.Add([]byte("m\nm s a b c\nx\nm -1\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		var out bytes.Buffer
		a, err := receive(bufio.NewReader(bytes.NewReader(text)), "m", "s", new(tail), &out, func() {})
		if !bytes.Contains(text, out.Bytes()) || err != nil && a.Code != 0 {
			t.Errorf("%+v, %v, %q", a, err, out.Bytes())
		}
	})
}
