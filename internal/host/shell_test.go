package host

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/tests/debian"
)

// Every login shell runs the command of a host alike, and finds agentctl in ~/.local/bin though it is not in PATH.
func TestLoginShells(t *testing.T) {
	home, request := t.TempDir(), strings.Repeat("_-Zz90AB", maxWord/8)
	bin := filepath.Join(home, ".local/bin")
	if err := os.MkdirAll(bin, 0o755); err != nil {
		t.Fatal(err)
	}
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
			if err != nil {
				t.Fatal(err)
			}
			program, environ = root.Path(program), root.Environ(environ)
		}
		run := func() string {
			cmd := exec.Command(program, "-c", remoteCommand("MARKER", request))
			cmd.Env = environ
			out, _ := cmd.Output() // its exit code is that of the command
			return string(out)
		}
		agentctl := filepath.Join(bin, "agentctl")
		_ = os.Remove(agentctl)
		uname, err := exec.Command("uname", "-sm").Output()
		if err != nil {
			t.Fatal(err)
		}
		if got, want := run(), "\nMARKER "+string(uname); got != want {
			t.Errorf("%s without agentctl: %q, want %q", program, got, want)
		}
		if err := os.WriteFile(agentctl, []byte("#!/bin/sh\necho \"$#\" \"$1\" \"$2\"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		if got, want := run(), "\nMARKER\n2 __remote "+request+"\n"; got != want {
			t.Errorf("%s: %q, want %q", program, got, want)
		}
	}
}
