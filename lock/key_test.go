package lock_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"agentctl/lock"
	"agentctl/tests/must"
)

func mkdir(t *testing.T, elem ...string) string {
	t.Helper()
	dir := filepath.Join(elem...)
	must.Do(t, os.MkdirAll(dir, 0o755))
	return dir
}

func write(t *testing.T, path, text string) {
	t.Helper()
	must.Do(t, os.WriteFile(path, []byte(text), 0o644))
}

// tree makes a repository with a linked worktree nested in it, beside a plain directory.
func tree(t *testing.T) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	mkdir(t, root, "repo", ".git", "worktrees", "a")
	write(t, filepath.Join(root, "repo", ".git", "HEAD"), "ref: refs/heads/main\n")
	mkdir(t, root, "repo", "sub", "deep")
	mkdir(t, root, "repo", "wt", "a", "src")
	write(t, filepath.Join(root, "repo", "wt", "a", ".git"), "gitdir: ../../.git/worktrees/a\n")
	mkdir(t, root, "plain", "sub")
	mkdir(t, root, "repo", "hollow", ".git") // no HEAD: git takes it for nothing
	mkdir(t, root, "repo", "odd")
	write(t, filepath.Join(root, "repo", "odd", ".git"), "not a link")
	mkdir(t, root, "repo", "pipe")
	must.Do(t, syscall.Mkfifo(filepath.Join(root, "repo", "pipe", ".git"), 0o600))
	must.Do(t, os.Symlink(filepath.Join(root, "repo", "sub"), filepath.Join(root, "link")))
	return root
}

func TestKey(t *testing.T) {
	root := tree(t)
	for dir, want := range map[string]string{
		"repo":             "repo",
		"repo/sub/deep":    "repo",
		"link":             "repo",
		"link/deep/..":     "repo",
		"repo/.git":        "repo",
		"repo/wt":          "repo",
		"repo/wt/a":        "repo/wt/a",
		"repo/wt/a/src":    "repo/wt/a",
		"repo/hollow":      "repo",
		"repo/hollow/.git": "repo",
		"repo/odd":         "repo",
		"repo/pipe":        "repo",
		"plain":            "plain",
		"plain/sub":        "plain/sub",
	} {
		got, err := lock.Key(filepath.Join(root, dir))
		if err != nil || got != filepath.Join(root, want) {
			t.Errorf("Key(%s) = %s, %v; want %s", dir, got, err, want)
		}
	}
}

// The key is what git itself says, in a repository, a linked worktree in it, a submodule, and a repository that is ignored.
func TestKeyIsGits(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	git := func(dir string, args ...string) string {
		t.Helper()
		cmd := exec.Command("git", append([]string{
			"-c", "user.name=a", "-c", "user.email=a@b", "-c", "protocol.file.allow=always",
		}, args...)...)
		cmd.Dir = dir
		cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + root, "GIT_CONFIG_NOSYSTEM=1"}
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("git %q: %v\n%s", args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	repo, part := mkdir(t, root, "repo"), mkdir(t, root, "part")
	for _, dir := range []string{repo, part} {
		git(dir, "init", "-q")
		git(dir, "commit", "-q", "--allow-empty", "-m", "first")
	}
	git(repo, "submodule", "--quiet", "add", part, "module")
	git(repo, "worktree", "add", "-q", ".trees/a")
	git(repo, "worktree", "add", "-q", "--detach", "../beside")
	git(filepath.Join(repo, "module"), "worktree", "add", "-q", "../of-module")
	git(mkdir(t, repo, "vendored"), "init", "-q")
	for _, dir := range []string{"repo", "repo/module", "repo/.trees", "repo/.trees/a", "beside", "repo/of-module", "repo/vendored", "part"} {
		for _, dir := range []string{filepath.Join(root, dir), mkdir(t, root, dir, "x", "y")} {
			if got, err := lock.Key(dir); err != nil || got != git(dir, "rev-parse", "--show-toplevel") {
				t.Errorf("Key(%s) = %s, %v", dir, got, err)
			}
		}
	}
}

func TestKeyRelative(t *testing.T) {
	root := tree(t)
	t.Chdir(filepath.Join(root, "repo", "sub"))
	if got, err := lock.Key("deep"); err != nil || got != filepath.Join(root, "repo") {
		t.Errorf("Key(deep) = %s, %v", got, err)
	}
}

func TestKeyErrors(t *testing.T) {
	root := tree(t)
	if _, err := lock.Key(filepath.Join(root, "nowhere")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing directory: %v", err)
	}
	if _, err := lock.Key(filepath.Join(root, "repo", ".git", "HEAD")); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("a file: %v", err)
	}
	if key, err := lock.Key(""); !errors.Is(err, fs.ErrInvalid) {
		t.Errorf("no directory: %q, %v", key, err)
	}
}

func TestPlace(t *testing.T) {
	root := tree(t)
	p, err := lock.WorkspaceOf(filepath.Join(root, "repo", "sub"))
	must.Do(t, err)
	for dir, want := range map[string]bool{
		"repo": true, "repo/sub/deep": true, "link": true, "repo/wt/a": false, "plain": false, "nowhere": false,
	} {
		for range 2 {
			if p.Contains(filepath.Join(root, dir)) != want {
				t.Errorf("%s: %v", dir, !want)
			}
		}
	}
	if p.Contains("") {
		t.Error("no directory at all is in it")
	}
}

// A directory that is gone is in no worktree; only its own name matches.
func TestPlaceGone(t *testing.T) {
	root := tree(t)
	dir := filepath.Join(root, "plain")
	p, err := lock.WorkspaceOf(dir)
	must.Do(t, err)
	must.Do(t, os.RemoveAll(dir))
	for name, want := range map[string]bool{dir: true, dir + "/": true, dir + "/sub": false} {
		if p.Contains(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
}

// A current directory that was deleted is named as such.
func TestDeletedCurrentDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "gone")
	must.Do(t, os.Mkdir(dir, 0o700))
	t.Chdir(dir)
	t.Setenv("PWD", "") // else Go believes it
	must.Do(t, os.Remove(dir))
	if _, err := lock.WorkspaceOf("."); !errors.Is(err, lock.ErrNoCurrentDirectory) {
		t.Error(err)
	}
}
