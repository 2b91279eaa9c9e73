package shells

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"agentctl/tests/debian"
)

// shell is how a shell is started, so that completion works and nothing of the user's own is read.
type shell struct {
	program string
	args    []string
	environ []string
	// rc is the file that it reads first, and what stands in it.
	rc, text string
}

func shells(t *testing.T, home string) map[string]func(*testing.T) shell {
	t.Helper()
	return map[string]func(*testing.T) shell{
		"bash": func(t *testing.T) shell {
			rc := filepath.Join(home, "bashrc")
			return shell{program: installed(t, "bash"), args: []string{"--rcfile", rc, "-i"}, rc: rc, text: `
PS1='READY> '
source <(agentctl completion bash)
`}
		},
		"zsh": func(t *testing.T) shell {
			s := shell{args: []string{"-i"}, environ: []string{"ZDOTDIR=" + home}, rc: filepath.Join(home, ".zshrc")}
			root, text := unpacked(t, debian.Package{Name: "zsh", Version: "5.9", Files: []string{"bin/zsh", "usr/share/zsh/functions/Completion"}}), ""
			if s.program = root.Path("bin/zsh"); root == "" {
				s.program = installed(t, "zsh")
			} else {
				s.environ = root.Environ(append(s.environ, "PATH="+os.Getenv("PATH")))
				text = "module_path=('" + root.Glob("usr/lib/*/zsh/*") + "')\nfpath=('" + root.Path("usr/share/zsh/functions") + "'/**/*(/))\n"
			}
			s.text = text + `
autoload -Uz compinit && compinit -D -u
PS1='READY> '
source <(agentctl completion zsh)
`
			return s
		},
		"fish": func(t *testing.T) shell {
			s := shell{args: []string{"-i"}, rc: filepath.Join(home, ".config/fish/config.fish"), text: `
set -g fish_greeting
function fish_prompt; echo -n 'READY> '; end
agentctl completion fish | source
`}
			root := unpacked(t, debian.Package{Name: "fish", Version: "3.6.0", Files: []string{"usr/bin/fish", "usr/share/fish/config.fish"}})
			if s.program = root.Path("usr/bin/fish"); root == "" {
				s.program = installed(t, "fish")
			} else {
				s.environ = root.Environ([]string{"PATH=" + os.Getenv("PATH")})
			}
			return s
		},
	}
}

// unpacked is a shell of the pinned version, "" on machines that are not Debian's.
func unpacked(t *testing.T, p debian.Package) debian.Root {
	t.Helper()
	root, err := debian.Ensure(t.Context(), p)
	if err == nil {
		return root
	}
	t.Log(err)
	return ""
}

// installed finds the machine's own shell. A missing one fails a CI run; on a person's machine it skips the test.
func installed(t *testing.T, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	switch {
	case err == nil:
	case os.Getenv("CI") == "true":
		t.Fatal(err)
	case errors.Is(err, exec.ErrNotFound):
		t.Skipf("%v: install %s, or run this on Debian or Ubuntu with the network", err, name)
	default:
		t.Fatal(err)
	}
	return path
}
