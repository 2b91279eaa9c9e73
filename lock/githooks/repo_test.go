package githooks_test

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/lock/githooks"
	"agentctl/tests/must"
)

// helperKey makes the test's own program install or uninstall, so that it can be killed.
const helperKey = "HOOKS_TEST_DO"

func TestMain(m *testing.M) {
	if what := os.Getenv(helperKey); what != "" {
		if err := help(what, os.Args[1], os.Args[2]); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func help(what, repo, program string) error {
	p, err := githooks.Open(context.Background(), git{repo, os.Environ()})
	if err != nil {
		return err
	}
	if what == "install" {
		_, err = p.Install(context.Background(), githooks.InstallOptions{Program: program})
	} else {
		_, err = p.Uninstall(context.Background())
	}
	return err
}

// git asks git in a directory.
type git struct {
	dir string
	env []string
}

func (g git) Output(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir, cmd.Env = g.dir, g.env
	out, err := cmd.Output()
	return string(out), err
}

// sandbox is a directory with a repository "repo" in it, on main with one commit, and a program "agentctl" that notes
// how it was called in "called" and ends with the exit code in "code".
type sandbox struct {
	*testing.T
	root string // without links
	env  []string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	s := &sandbox{t, root, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "LC_ALL=C", "TMPDIR=" + t.TempDir()}}
	s.write(".gitconfig", "[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n[advice]\n\tignoredHook = false\n", 0o644)
	s.git("", "init", "-q", "repo")
	s.git("repo", "commit", "-qm", "one", "--allow-empty")
	s.write("it's/agentctl", "#!/bin/sh\necho \"$@\" >>'"+root+"/called'\ncat >>'"+root+"/stdin'\nexit $(cat '"+root+"/code')\n", 0o755)
	s.code("0")
	return s
}

// code is what the program is to end with.
func (s *sandbox) code(code string) { s.write("code", code, 0o644) }

// called are the calls of the program since it was asked last.
func (s *sandbox) called() string {
	text := s.read("called")
	_ = os.Remove(s.path("called"))
	return strings.ReplaceAll(strings.TrimSpace(text), "\n", "; ")
}

func (s *sandbox) wanted() githooks.InstallOptions {
	return githooks.InstallOptions{Program: s.path("it's/agentctl")}
}

func (s *sandbox) path(elem ...string) string {
	return filepath.Join(append([]string{s.root}, elem...)...)
}

func (s *sandbox) write(name, text string, mode fs.FileMode) {
	s.Helper()
	err := os.MkdirAll(filepath.Dir(s.path(name)), 0o755)
	if err == nil {
		err = os.WriteFile(s.path(name), []byte(text), mode)
	}
	if err == nil {
		err = os.Chmod(s.path(name), mode)
	}
	must.Do(s, err)
}

// read is what stands in a file, "" if there is none.
func (s *sandbox) read(name string) string {
	text, _ := os.ReadFile(s.path(name))
	return string(text)
}

// try runs git as a person does.
func (s *sandbox) try(dir string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = s.path(dir), s.env
	out, err := cmd.CombinedOutput()
	return strings.TrimSuffix(string(out), "\n"), err
}

func (s *sandbox) git(dir string, args ...string) string {
	s.Helper()
	out, err := s.try(dir, args...)
	if err != nil {
		s.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return out
}

// commit makes an empty commit, as far as the hooks let it.
func (s *sandbox) commit(dir string) (string, error) {
	return s.try(dir, "commit", "-qm", "text", "--allow-empty")
}

func (s *sandbox) find(dir string) *githooks.HooksDir {
	s.Helper()
	p, err := githooks.Open(s.Context(), git{s.path(dir), s.env})
	must.Do(s, err)
	return p
}

// install must succeed; the result is the states in one line.
func (s *sandbox) install(dir string) string {
	s.Helper()
	list, err := s.find(dir).Install(s.Context(), s.wanted())
	must.Do(s, err)
	return states(list)
}

func (s *sandbox) uninstall(dir string) string {
	s.Helper()
	list, err := s.find(dir).Uninstall(s.Context())
	must.Do(s, err)
	return states(list)
}

func (s *sandbox) status(dir string) []githooks.Hook {
	s.Helper()
	list, err := s.find(dir).Status()
	must.Do(s, err)
	return list
}

// states are those of all hooks, each kind once, with a + if one was changed.
func states(list []githooks.Hook) string {
	var out []string
	for _, h := range list {
		word := string(h.State)
		if h.Changed {
			word += "+"
		}
		if len(out) == 0 || out[len(out)-1] != word {
			out = append(out, word)
		}
	}
	return strings.Join(out, " ")
}

// tree is everything below a directory: names, modes, links and contents.
func (s *sandbox) tree(dir string) string {
	s.Helper()
	var b strings.Builder
	err := filepath.WalkDir(s.path(dir), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch d.Type() {
		case fs.ModeSymlink:
			text, err = os.Readlink(path)
		case 0:
			var raw []byte
			raw, err = os.ReadFile(path)
			text = string(raw)
		}
		fmt.Fprintf(&b, "%s %s %q\n", path, info.Mode(), text)
		return err
	})
	must.Do(s, err)
	return b.String()
}
