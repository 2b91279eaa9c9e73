package remote

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"agentctl/tests/debian"
	"agentctl/tests/must"
)

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
