package shells

import (
	"cmp"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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

// hostile are names that a shell would act upon: each begins with a letter of its own.
func hostile() []string {
	return []string{
		"a$(touch${IFS}pw1)b", "b`touch${IFS}pw2`", "c'q\"q", "d;touch${IFS}pw3;e", "e&touch${IFS}pw4&f", "f|g<h>pw5", "g!!h!x",
		"h{1,2}#x", "i(j)%k=l,m@n", "jüñï-日本", "k$HOME",
	}
}

// rough are the names of directories and groups, which can hold what a branch cannot.
func rough() []string {
	return []string{"l with  blanks", "n~*?[x]^:y\\z", "p'\"$(touch pw6)`touch pw7`"}
}

// Tab inserts a name so that the shell takes it for itself, whatever it holds, and whichever quote was open.
func TestHostileNames(t *testing.T) {
	d := newDesk(t)
	for _, branch := range hostile() {
		d.git("worktree", "add", "-q", "-b", branch, filepath.Join(d.home, "w", branch[:1]))
	}
	d.git("worktree", "add", "-q", "-b", "try/q$(touch${IFS}pw8)'r/n", filepath.Join(d.home, "w", "group"))
	dashed := filepath.Join(d.home, "w", "-dash")
	d.git("update-ref", "refs/heads/-dash", "HEAD")
	d.git("worktree", "add", "-q", "--detach", dashed)
	d.git("-C", dashed, "symbolic-ref", "HEAD", "refs/heads/-dash")
	for i, dir := range rough() {
		d.git("worktree", "add", "-q", "--detach", filepath.Join(d.home, "w", dir))
		id := "00000000-0000-4000-8000-00000000000" + string(rune('0'+i))
		for _, place := range []string{filepath.Join(d.home, "w", dir), d.repo} { // one ID in two directories
			d.session(id, place, "title $(touch pw9) `touch pw10` \x1b[31m\n'\"", 10+2*i+len(place)%2)
		}
	}
	for name, start := range shells(t, d.home) {
		t.Run(name, func(t *testing.T) {
			d := &desk{t: t, home: d.home, repo: d.repo}
			d.check(os.RemoveAll(filepath.Join(d.home, "runs")))
			d.check(os.Mkdir(filepath.Join(d.home, "runs"), 0o755))
			d.open(start(t))
			d.completes(t)
			d.untouched()
		})
	}
}

func (d *desk) completes(t *testing.T) {
	t.Helper()
	for _, branch := range hostile() {
		for _, open := range []string{"", "'", `"`} {
			d.inserts(t, "worktree clean "+open+branch[:1], "worktree", "clean", branch)
		}
	}
	d.inserts(t, `worktree clean a\$\(tou`, "worktree", "clean", hostile()[0])
	d.inserts(t, `worktree clean 'a$(tou`, "worktree", "clean", hostile()[0])
	d.inserts(t, `worktree clean d\;`, "worktree", "clean", hostile()[3])
	d.inserts(t, "list --group q", "list", "--group", "q$(touch${IFS}pw8)'r")
	d.inserts(t, "list --group=q", "list", "--group=q$(touch${IFS}pw8)'r")
	for _, dir := range rough() {
		path := filepath.Join(d.home, "w", dir)
		d.inserts(t, "worktree clean "+filepath.Join(d.home, "w", dir[:1]), "worktree", "clean", path)
	}
	d.inserts(t, "worktree clean "+filepath.Join(d.home, "w", "-"), "worktree", "clean", filepath.Join(d.home, "w", "-dash"))
	id := "00000000-0000-4000-8000-000000000000"
	d.inserts(t, "status "+id+"@"+d.home, "status", id+"@"+filepath.Join(d.home, "w", rough()[0]))
	d.inserts(t, "list --status running,wai", "list", "--status", "running,waiting")
	d.inserts(t, "list --status=running,wai", "list", "--status=running,waiting")
}

func (d *desk) inserts(t *testing.T, line string, want ...string) {
	t.Helper()
	if got := d.completed("agentctl " + line); !slices.Equal(got, want) {
		t.Errorf("%s: %q\nwant %q", line, got, want)
	}
}

// What is offered stands in agentctl's order, newest first, and has descriptions.
func TestOrder(t *testing.T) {
	d := newDesk(t)
	long := strings.Repeat("a title that leaves no room for a second column ", 2)
	d.session("cccccccc-0000-4000-8000-000000000000", d.repo, "newest $(touch pw) "+long, 1)
	d.session("aaaaaaaa-0000-4000-8000-000000000000", d.repo, "second "+long, 2)
	d.session("bbbbbbbb-0000-4000-8000-000000000000", d.repo, "third "+long, 3)
	for name, start := range shells(t, d.home) {
		t.Run(name, func(t *testing.T) {
			d := &desk{t: t, home: d.home, repo: d.repo}
			d.open(start(t))
			tabs := map[string]string{"bash": "\t\t"}[name] // the first one completes, the second one lists
			d.types("agentctl resume " + cmp.Or(tabs, "\t"))
			d.sees("READY> agentctl resume", "cccccccc-", "newest $(touch pw)", "aaaaaaaa-", "second", "bbbbbbbb-", "third")
			d.untouched()
		})
	}
}
