package remote

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/tests/debian"
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

// Every login shell runs the command of a host alike, finds agentctl in ~/.local/bin though it is not in PATH, and gives it the arguments as they are: those in the
// command line, in a terminal too, and long ones by stdin.
func TestLoginShells(t *testing.T) {
	every := make([]byte, 0, 255)
	for c := byte(255); c > 0; c-- {
		every = append(every, c)
	}
	args := []string{"search", "--cwd=/a", "--", "", "-n", "it's $(x) `y` \\ ! % \"%s\" \\\\ \n\n", "é\xc3", "a=~ *", string(every[:128]), string(every[128:])}
	home := t.TempDir()
	bin, given := filepath.Join(home, ".local/bin"), filepath.Join(home, "given")
	must.Do(t, os.MkdirAll(bin, 0o755))
	for _, shell := range []struct {
		program string
		of      debian.Package
	}{
		{program: "/bin/sh"},
		{program: "/bin/bash"},
		{"bin/zsh", debian.Package{Name: "zsh", Version: "5.9", Files: []string{"bin/zsh"}}},
		{"usr/bin/fish", debian.Package{Name: "fish", Version: "3.6.0", Files: []string{"usr/bin/fish"}}},
		{"bin/tcsh", debian.Package{Name: "tcsh", Version: "6.24.07", Files: []string{"bin/tcsh"}}},
	} {
		program, environ := shell.program, []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
		if shell.of.Name != "" {
			root, err := debian.Ensure(t.Context(), shell.of)
			if debian.MayBeMissing(err) {
				t.Log(err)
				continue
			}
			must.Do(t, err)
			program, environ = root.Path(program), root.Environ(environ)
		}
		run := func(command string, stdin []byte) string {
			cmd := exec.Command(program, "-c", command)
			cmd.Env, cmd.Stdin = environ, bytes.NewReader(stdin)
			out, _ := cmd.CombinedOutput() // its exit code is that of the command
			return string(out)
		}
		long := append(slices.Clone(args), strings.Repeat("0123456789", maxWords/10))
		for _, list := range [][]string{args, long, {"list", strings.Repeat("x", maxWords-40)}} {
			request := Request{Schema: "urn:s:1", Args: list, Stdin: []byte("a\x00b"), Zone: "Europe/Berlin", Offset: -3600}
			command, stdin := request.command("MARKER")
			if strings.Count(command, "'") != 2 || strings.ContainsAny(command, "\n!") || strings.Contains(command, `\\`) || len(command) > maxWords+1000 {
				t.Errorf("%q", command)
			}
			_ = os.Remove(filepath.Join(bin, "agentctl"))
			uname, err := exec.Command("uname", "-sm").Output()
			must.Do(t, err)
			if got, want := run(command, stdin), "\nMARKER "+string(uname); got != want {
				t.Errorf("%s without agentctl: %q, want %q", program, got, want)
			}
			script := "#!/bin/sh\nprintf '%s\\0' \"$@\" >" + given + "\necho \"$AGENTCTL_CALLER\"\n"
			must.Do(t, os.WriteFile(filepath.Join(bin, "agentctl"), []byte(script), 0o755))
			caller, ok := strings.CutPrefix(run(command, stdin), "\nMARKER\n")
			words, err := os.ReadFile(given)
			if !ok || err != nil {
				t.Fatalf("%s: %q, %v", program, caller, err)
			}
			var got Request
			in := io.MultiReader(bytes.NewReader(stdin), endless{}) // stdin stays open
			_, err = Serve(t.Context(), caller, strings.Split(strings.TrimSuffix(string(words), "\x00"), "\x00"), in, io.Discard, Hello{Schema: "urn:s:1"}, func(_ context.Context, r Request) int {
				got = r
				return 0
			})
			if err != nil || !slices.Equal(got.Args, list) || !bytes.Equal(got.Stdin, request.Stdin) || got.Offset != -3600 || got.Zone != request.Zone {
				t.Errorf("%s: %q, %v\n%q", program, caller, err, got.Args)
			}
		}
		terminal := SSH{}.TerminalCommand(Target{Name: "ana", Destination: "ana"}, args, 6)
		run(terminal[len(terminal)-1], nil)
		if words, err := os.ReadFile(given); err != nil || string(words) != strings.Join(args, "\x00")+"\x00" {
			t.Errorf("%s in a terminal: %q, %v", program, words, err)
		}
	}
}

// endless is a stdin that stays open.
type endless struct{}

func (endless) Read([]byte) (int, error) { select {} }

// A caller of another contract, and one that is not understood, runs nothing. Without its whole input neither does one.
func TestServeRunsNothing(t *testing.T) {
	for caller, hello := range map[string]string{"m other 0 0 0 ": "m s linux amd64 v1\n", "": "", "m s 0 -1 0 ": "", "m s 0 200000000 0 ": "", "m s x": "", "m s 0 9 0 ": "m s linux amd64 v1\n"} {
		var out bytes.Buffer
		_, err := Serve(t.Context(), caller, []string{askedFlag, "stop"}, strings.NewReader("\n"), &out, Hello{"s", "linux", "amd64", "v1"}, func(context.Context, Request) int {
			t.Errorf("%q runs it", caller)
			return 0
		})
		if err == nil || out.String() != hello {
			t.Errorf("%q: %v, %q", caller, err, out.String())
		}
	}
}

// A program that does not know how it is asked meets a flag that it refuses, before the verb.
func TestOlderProgramsAreRefused(t *testing.T) {
	command, _ := Request{Schema: "s", Args: []string{"stop", "--all"}}.command("m")
	if !strings.Contains(command, "exec agentctl --asked stop --all") {
		t.Error(command)
	}
	if _, err := Serve(t.Context(), "m s 0 0 0 ", []string{"stop", "--all"}, strings.NewReader("\n"), io.Discard, Hello{Schema: "s"}, nil); err == nil {
		t.Error("a command line without the flag is served")
	}
}

// What follows the input ends the command, the end of stdin too. No stdin at all does not.
func TestServeEndsWithStdin(t *testing.T) {
	for in, want := range map[string]bool{"in\n": true, "in\nx": true, "in": false} {
		var out bytes.Buffer
		code, err := Serve(t.Context(), "m s 0 2 7200 Nowhere/At_All", []string{askedFlag, "list"}, strings.NewReader(in), &out, Hello{Schema: "s"}, func(ctx context.Context, r Request) int {
			if _, offset := time.Now().In(r.Location()).Zone(); offset != 7200 {
				t.Errorf("the zone is %v", r.Location())
			}
			if !want {
				return 7
			}
			<-ctx.Done()
			if !errors.Is(context.Cause(ctx), syscall.EPIPE) {
				t.Error(context.Cause(ctx))
			}
			return 130
		})
		if err != nil || !strings.HasSuffix(out.String(), map[bool]string{true: "\nm 130\n", false: "\nm 7\n"}[want]) {
			t.Errorf("%q: %d, %v, %q", in, code, err, out.String())
		}
	}
}

// The names of hosts hold nothing that ssh, a shell or an ID takes for its own.
func TestNames(t *testing.T) {
	for arg, want := range map[string]string{
		"devbox:abc": "devbox", "ana@h.example:pid:7": "ana@h.example", "local:x": "local", "pid:7": "", "abc": "", "abc@/a:b": "", "-x:abc": "", "h:": "",
		"a b:x": "", "$(x):y": "", "a;b:x": "", ":x": "", "@x:y": "", "x@:y": "",
	} {
		if name, _, ok := SplitID(arg); name != want || ok != (want != "") {
			t.Errorf("%q: %q, %v", arg, name, ok)
		}
	}
	for _, bad := range []string{"", "-oProxyCommand=x", "a b", "ssh://-x", "a'b", "a\nb"} {
		if CheckDestination(bad) == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}
