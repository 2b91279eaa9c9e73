package lock

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// git runs git without anybody's configuration.
func git(t *testing.T, dir string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=a", "-c", "user.email=a@a.example"}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// All worktrees of a repository are in it, by whatever name, and nothing else is.
func TestRepository(t *testing.T) {
	root := t.TempDir()
	at := func(name string) string { return filepath.Join(root, name) }
	git(t, root, "init", "-q", at("one"))
	git(t, at("one"), "commit", "-q", "--allow-empty", "-m", "begin")
	git(t, at("one"), "worktree", "add", "-q", "-b", "side", at("side"))
	git(t, root, "clone", "-q", "--bare", at("one"), at("bare"))
	git(t, at("bare"), "worktree", "add", "-q", "-b", "of-bare", at("of-bare"))
	git(t, root, "init", "-q", at("one/nested"))
	for _, dir := range []string{at("side/below"), at("plain")} {
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(at("side/below"), at("link")); err != nil {
		t.Fatal(err)
	}
	in := map[string]string{
		"one": "one", "side": "one", "side/below": "one", "link": "one", "one/nested": "one/nested", "bare": "bare", "of-bare": "bare",
		"plain": "", "gone": "",
	}
	for _, of := range []string{"one", "side", "link", "bare", "of-bare", "one/nested"} {
		r, err := RepositoryOf(at(of))
		if err != nil {
			t.Fatal(of, err)
		}
		for dir, repo := range in {
			if got := r.Contains(at(dir)); got != (repo == in[of]) {
				t.Errorf("%s in the repository of %s: %v", dir, of, got)
			}
		}
		git(t, at("one"), "worktree", "add", "-q", "--detach", at("late"))
		if got := r.Contains(at("late")); got != (in[of] == "one") {
			t.Errorf("a worktree made later, in the repository of %s: %v", of, got)
		}
		git(t, at("one"), "worktree", "remove", at("late"))
	}
	if _, err := RepositoryOf(at("plain")); !errors.Is(err, ErrNoRepository) {
		t.Error(err)
	}
}
