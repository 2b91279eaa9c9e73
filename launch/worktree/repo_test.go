package worktree_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"agentctl/launch"
	"agentctl/launch/worktree"
	"agentctl/tests/must"
	sandboxed "agentctl/tests/sandbox"
)

func TestMain(m *testing.M) {
	// A git at work elsewhere on the machine, of which it cannot be told where, would be taken for one at work here.
	if code, ran := sandboxed.Enter(sandboxed.Processes); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// sandbox is a directory with a repository "repo" in it: branch main, one commit with the files a, dir/b.
type sandbox struct {
	*testing.T
	root string // without links
	env  []string
}

func newSandbox(t *testing.T) *sandbox {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	s := &sandbox{t, root, []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1", "LANG=C.UTF-8", "TMPDIR=" + t.TempDir(),
		// What a hook would say of another repository.
		"GIT_DIR=/nowhere", "GIT_WORK_TREE=/nowhere", "GIT_INDEX_FILE=/nowhere/index",
	}}
	s.write(".gitconfig", "[user]\n\tname = A\n\temail = a@example.com\n[init]\n\tdefaultBranch = main\n[protocol \"file\"]\n\tallow = always\n")
	s.git("", "init", "-q", "repo")
	s.write("repo/a", "1\n")
	s.write("repo/dir/b", "2\n")
	s.commit("repo", "one")
	return s
}

// path is below the sandbox.
func (s *sandbox) path(elem ...string) string {
	return filepath.Join(append([]string{s.root}, elem...)...)
}

func (s *sandbox) write(name, text string) {
	s.Helper()
	must.Do(s, os.MkdirAll(filepath.Dir(s.path(name)), 0o755))
	must.Do(s, os.WriteFile(s.path(name), []byte(text), 0o755))
}

// gitCommand is git as a person runs it in a directory.
func (s *sandbox) gitCommand(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir = s.path(dir)
	cmd.Env = slices.DeleteFunc(slices.Clone(s.env), func(v string) bool {
		return strings.HasPrefix(v, "GIT_") && v != "GIT_CONFIG_NOSYSTEM=1"
	})
	return cmd
}

func (s *sandbox) git(dir string, args ...string) string {
	s.Helper()
	out, err := s.gitCommand(dir, args...).CombinedOutput()
	if err != nil {
		s.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSuffix(string(out), "\n")
}

func (s *sandbox) commit(dir, message string) {
	s.Helper()
	s.git(dir, "add", "-A")
	s.git(dir, "commit", "-qm", message, "--allow-empty")
}

// open is the repository as agentctl sees it from a directory.
func (s *sandbox) open(dir string) *worktree.Repo {
	s.Helper()
	r, err := worktree.Open(s.Context(), hostOf(s), s.path(dir))
	must.Do(s, err)
	return r
}

func (s *sandbox) list(r *worktree.Repo) []worktree.Worktree {
	s.Helper()
	list, err := r.List(s.Context())
	must.Do(s, err)
	return list
}

// at is the worktree with that path below the sandbox.
func (s *sandbox) at(r *worktree.Repo, name string) worktree.Worktree {
	s.Helper()
	list := s.list(r)
	i := slices.IndexFunc(list, func(w worktree.Worktree) bool { return w.Path == s.path(name) })
	if i < 0 {
		s.Fatalf("%s is not in %+v", name, list)
	}
	return list[i]
}

// create makes the worktree with that name on a branch, and must succeed.
func (s *sandbox) create(r *worktree.Repo, name, branch string) worktree.CreateResult {
	s.Helper()
	made, err := r.Create(s.Context(), worktree.CreateOptions{Dir: s.path(name), Branch: branch})
	must.Do(s, err)
	return made
}

// names are the files in a directory.
func (s *sandbox) names(dir string) string {
	s.Helper()
	list, err := os.ReadDir(s.path(dir))
	must.Do(s, err)
	var out []string
	for _, d := range list {
		out = append(out, d.Name())
	}
	return strings.Join(out, " ")
}

func hostOf(s *sandbox) launch.Environment { return launch.Environment{Environ: s.env} }

// blockCheckout makes git wait for ever when it writes the file dir/b of a new worktree. The returned function waits until
// it does so.
func (s *sandbox) blockCheckout() (begun func()) {
	s.Helper()
	for _, name := range []string{"begun", "never"} {
		must.Do(s, syscall.Mkfifo(s.path(name), 0o600))
	}
	s.write("repo/.git/info/attributes", "dir/b filter=block\n")
	s.git("repo", "config", "filter.block.smudge", "echo >"+s.path("begun")+"; cat "+s.path("never"))
	s.git("repo", "config", "filter.block.required", "true")
	return func() {
		if _, err := os.ReadFile(s.path("begun")); err != nil {
			s.Error(err)
		}
	}
}

// unblockCheckout takes that back.
func (s *sandbox) unblockCheckout() {
	s.Helper()
	must.Do(s, os.Remove(s.path("repo/.git/info/attributes")))
}
