package managers

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"agentctl/internal/cmd"
	"agentctl/internal/cmdutil"
	"agentctl/tests/debian"
	"agentctl/tests/npm"
	"agentctl/tests/recipes"
	"agentctl/tests/sandbox"
)

// TestMain makes the test binary the program as well: under the name agentctl it is.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "agentctl" {
		os.Exit(cmd.Main(os.Args, cmdutil.NewFactory("v0.0.0-test")))
	}
	if code, ran := sandbox.Enter(sandbox.Processes); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}

// repository is a git repository of a person with nothing else.
type repository struct {
	*testing.T
	dir, home, path string
	environ         []string
}

// newRepository makes one; programs are directories to put in PATH.
func newRepository(t *testing.T, programs ...string) *repository {
	t.Helper()
	root := t.TempDir()
	r := &repository{T: t, dir: filepath.Join(root, "repo"), home: filepath.Join(root, "home")}
	bin := filepath.Join(root, "bin")
	for _, dir := range []string{bin, r.home} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(self, filepath.Join(bin, "agentctl")); err != nil {
		t.Fatal(err)
	}
	r.path = strings.Join(append(append([]string{bin}, programs...), os.Getenv("PATH")), ":")
	r.environ = []string{
		"HOME=" + r.home, "PATH=" + r.path, "USER=ana", "GIT_CONFIG_NOSYSTEM=1", "GORACE=atexit_sleep_ms=0",
		"GIT_AUTHOR_NAME=a", "GIT_AUTHOR_EMAIL=a@a.example", "GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a.example",
	}
	r.must(root, "git", "init", "-q", "repo")
	return r
}

func (r *repository) run(dir, name string, args ...string) (string, error) {
	r.Helper()
	cmd := exec.Command("/usr/bin/env", append([]string{name}, args...)...)
	cmd.Dir, cmd.Env = dir, r.environ
	out, err := cmd.CombinedOutput()
	return string(out), err
}

func (r *repository) must(dir, name string, args ...string) string {
	r.Helper()
	out, err := r.run(dir, name, args...)
	if err != nil {
		r.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return out
}

func (r *repository) write(name, text string) {
	r.Helper()
	if err := os.WriteFile(filepath.Join(r.dir, name), []byte(text), 0o600); err != nil {
		r.Fatal(err)
	}
}

// printed writes a block of the documents to a file, below what the file has.
func (r *repository) printed(id, name, above string) {
	r.Helper()
	b, err := recipes.Find("../..", id)
	if err != nil {
		r.Fatal(err)
	}
	r.write(name, above+b.Text)
}

// guarded checks that a commit is made while nobody is in the way, and refused while somebody is.
func (r *repository) guarded() {
	r.Helper()
	commit := func(message string) (string, error) { // of a file: lefthook runs nothing for an empty commit
		r.write("file", message)
		r.must(r.dir, "git", "add", "file")
		return r.run(r.dir, "git", "commit", "-q", "-m", message)
	}
	if out, err := commit("free"); err != nil {
		r.Fatalf("%v\n%s", err, out)
	}
	r.must(r.dir, "agentctl", "lock", ".", "--by", "ben", "--reason", "release")
	if out, err := commit("locked"); err == nil || !strings.Contains(out, "locked by ben") {
		r.Errorf("%v\n%s", err, out)
	}
	r.must(r.dir, "agentctl", "unlock", ".", "--by", "ben")
	if out, err := commit("free again"); err != nil {
		r.Errorf("%v\n%s", err, out)
	}
}

// lefthookVersion is the release from npm that is tested.
const lefthookVersion = "2.2.2"

// lefthook returns the folder of its program.
func lefthook(t *testing.T) string {
	t.Helper()
	return filepath.Dir(npm.Need(t, "lefthook", lefthookVersion, ".bin/lefthook"))
}

// What the documents print for lefthook is a whole file.
func TestLefthookDocumented(t *testing.T) {
	r := newRepository(t, lefthook(t))
	r.write("lefthook.yml", "pre-commit:\n  commands:\n    own:\n      run: touch own-has-run\n")
	r.printed("docs/git-hooks.md:where-they-are-installed/3", "lefthook-local.yml", "")
	r.must(r.dir, "lefthook", "install")
	r.must(r.dir, "lefthook", "validate")
	r.guarded()
	if _, err := os.Stat(filepath.Join(r.dir, "own-has-run")); err != nil {
		t.Errorf("the hook of the repository's own does not run any more: %v", err)
	}
}

// newPreCommit makes a repository for Debian's stable release of pre-commit, which knows the short names of stages only.
func newPreCommit(t *testing.T) *repository {
	t.Helper()
	root, err := debian.Ensure(t.Context(), debian.Package{Name: "pre-commit", Version: "3.0.4", Files: []string{"usr/bin/pre-commit"}})
	if err != nil {
		if _, absent := exec.LookPath("apt-get"); absent != nil && os.Getenv("CI") != "true" {
			t.Skip("pre-commit is brought as a Debian package, and there is no apt-get here")
		}
		t.Fatal(err)
	}
	r := newRepository(t, root.Path("usr/bin"))
	r.environ = append(root.Environ(r.environ), "PYTHONPATH="+root.Path("usr/lib/python3/dist-packages"), "PRE_COMMIT_HOME="+r.home)
	return r
}

// What the documents print for pre-commit stands below "repos:".
func TestPreCommitDocumented(t *testing.T) {
	r := newPreCommit(t)
	r.printed("docs/git-hooks.md:where-they-are-installed/4", ".pre-commit-config.yaml", "repos:\n")
	r.must(r.dir, "pre-commit", "install")
	r.must(r.dir, "pre-commit", "validate-config")
	r.must(r.dir, "git", "add", ".pre-commit-config.yaml")
	r.guarded()
}
