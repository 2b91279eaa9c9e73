package lock

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"agentctl/discover"
	"agentctl/tests/must"
)

// holderKey makes the test's own program hold the directory that it names, until it is killed.
const holderKey = "LOCK_TEST_HOLD"

// changerKey makes the test's own program change a store: "declare STORE DIR" or "remove STORE DIR".
const changerKey = "LOCK_TEST_CHANGE"

// change is what that program does, in a store with an expired lock and a draft that somebody has left.
func change(order string) error {
	verb, rest, _ := strings.Cut(order, " ")
	store, dir, _ := strings.Cut(rest, " ")
	s := Store{store}
	p, err := WorkspaceOf(dir)
	if err != nil {
		return err
	}
	if verb == "declare" {
		return s.Declare(context.Background(), []*Workspace{p}, DeclaredLock{By: "ana", Reason: "a reason", Since: noon}, noon)
	}
	list, err := s.ForWorkspace(p, noon)
	return errors.Join(err, s.Remove(context.Background(), noon, list...))
}

func TestMain(m *testing.M) {
	if dir := os.Getenv(holderKey); dir != "" {
		if _, err := FlockWorkspace(context.Background(), dir); err != nil {
			panic(err)
		}
		fmt.Println("held")
		_, _ = io.ReadAll(os.Stdin) // for ever
	}
	if order := os.Getenv(changerKey); order != "" {
		if err := change(order); err != nil {
			panic(err)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// worktree is a directory that git takes for a repository, a directory in it, and a link to that.
func worktree(t *testing.T) (top, sub, link string) {
	t.Helper()
	top = t.TempDir()
	sub, link = filepath.Join(top, "a", "b"), filepath.Join(t.TempDir(), "link")
	for _, err := range []error{
		os.MkdirAll(sub, 0o755), os.Mkdir(filepath.Join(top, ".git"), 0o755),
		os.WriteFile(filepath.Join(top, ".git", "HEAD"), nil, 0o600), os.Symlink(sub, link),
	} {
		must.Do(t, err)
	}
	return top, sub, link
}

// over is a context that has ended.
func over() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

func TestOneHolder(t *testing.T) {
	top, sub, link := worktree(t)
	for _, name := range []string{top, sub, link} {
		h, err := FlockWorkspace(t.Context(), name)
		must.Do(t, err)
		for _, other := range []string{top, sub, link} {
			if _, err := FlockWorkspace(over(), other); !errors.Is(err, ErrFlocked) {
				t.Errorf("%s while %s is held: %v", other, name, err)
			}
		}
		if _, err := FlockWorkspace(over(), t.TempDir()); err != nil {
			t.Errorf("another directory: %v", err)
		}
		h.Release()
	}
	if _, err := FlockWorkspace(t.Context(), filepath.Join(top, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if files, err := os.ReadDir(top); err != nil || len(files) != 2 {
		t.Errorf("holding has left something behind: %v, %v", files, err)
	}
}

// Whoever waits for a turn that another process never ends is told the directory in time, and goes at the first interrupt.
func TestAWaitForATurnEnds(t *testing.T) {
	dir := t.TempDir()
	other, err := FlockWorkspace(t.Context(), dir)
	must.Do(t, err)
	if _, err := flockDirTimeout(t.Context(), dir, time.Millisecond); err == nil || !strings.Contains(err.Error(), dir+": another process") {
		t.Errorf("after the timeout: %v", err)
	}
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	if _, err := FlockForUpdate(interrupted, dir); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if err := (Store{Dir: dir}).Remove(interrupted, time.Time{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a store, interrupted: %v", err)
	}
	other.Release()
	mine, err := FlockForUpdate(t.Context(), dir)
	must.Do(t, err)
	mine.Release()
}

func TestResolve(t *testing.T) {
	top, err := filepath.EvalSymlinks(t.TempDir())
	must.Do(t, err)
	must.Do(t, os.Symlink(top, filepath.Join(top, "link")))
	for path, want := range map[string]string{
		"": "", ".": ".", "link/x": "link/x", "/": "/", "/none/x": "/none/x",
		top + "/link": top, top + "/link/none/x": top + "/none/x", top + "/none": top + "/none",
	} {
		if got := Resolve(path); got != want {
			t.Errorf("%q: %q, want %q", path, got, want)
		}
	}
}

func TestWithin(t *testing.T) {
	for paths, want := range map[[2]string]bool{
		{"/a/b", "/a"}: true, {"/a", "/a"}: true, {"/ab", "/a"}: false, {"/a", "/a/b"}: false, {"/a", "/"}: true, {"/a", ""}: false,
	} {
		if got := discover.Within(paths[0], paths[1]); got != want {
			t.Errorf("%q: %v", paths, got)
		}
	}
}

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
		must.Do(t, os.Mkdir(dir, 0o755))
	}
	must.Do(t, os.Symlink(at("side/below"), at("link")))
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
