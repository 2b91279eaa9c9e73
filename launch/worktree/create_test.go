package worktree_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"agentctl/launch"
	"agentctl/launch/worktree"
	"agentctl/proc"
	"agentctl/tests/must"
	sandboxed "agentctl/tests/sandbox"
)

func TestCreate(t *testing.T) {
	s := newSandbox(t)
	first := s.git("repo", "rev-parse", "HEAD")
	s.git("repo", "tag", "v1")
	s.git("repo", "update-ref", "refs/remotes/origin/far", first)
	s.commit("repo", "two")
	second := s.git("repo", "rev-parse", "HEAD")
	s.git("repo", "branch", "old", first)
	must.Do(t, os.Mkdir(s.path("empty"), 0o755))
	r := s.open("repo")
	for _, tc := range []struct {
		dir, branch, base string
		head              string
		newBranch         bool
	}{
		{"plain", "plain", "", second, true},
		{"empty", "empty", "", second, true},
		{"of tag\nand 日本", "b/c", "v1", first, true},
		{"above/it/far", "far", "origin/far", first, true},
		{"of-old", "old", "", first, false},
		{"of-branch", "b/d", "old", first, true},
		{"repo/nested", "nested", "HEAD~1", first, true},
	} {
		made, err := r.Create(t.Context(), worktree.CreateOptions{Dir: s.path(tc.dir), Branch: tc.branch, Base: tc.base})
		want := worktree.CreateResult{Worktree: worktree.Worktree{Path: s.path(tc.dir), Head: tc.head, Branch: tc.branch}, New: true, NewBranch: tc.newBranch}
		if err != nil || made != want {
			t.Errorf("%+v: %+v, %v", tc, made, err)
			continue
		}
		if s.git(tc.dir, "status", "--porcelain") != "" || s.git(tc.dir, "rev-parse", "HEAD") != tc.head {
			t.Errorf("%+v is not as it should be", tc)
		}
		// Again: it is that very one.
		again, err := r.Create(t.Context(), worktree.CreateOptions{Dir: s.path(tc.dir), Branch: tc.branch, Base: tc.base})
		want.New, want.NewBranch = false, false
		if err != nil || again != want {
			t.Errorf("%+v again: %+v, %v", tc, again, err)
		}
	}
	// A branch that starts at another one's remote does not follow it: a push from here goes nowhere by itself.
	if out, err := s.gitCommand("repo", "config", "branch.far.merge").Output(); err == nil {
		t.Errorf("far tracks %s", out)
	}
}

// The base is where the caller is, if none is named.
func TestCreateFromLinked(t *testing.T) {
	s := newSandbox(t)
	s.create(s.open("repo"), "one", "one")
	s.commit("one", "further")
	made := s.create(s.open("one"), "two", "two")
	if made.Head != s.git("one", "rev-parse", "HEAD") || made.Head == s.git("repo", "rev-parse", "HEAD") {
		t.Errorf("%+v", made)
	}
}

// What is in the way is told, and nothing is made or changed.
func TestCreateRefuses(t *testing.T) {
	s := newSandbox(t)
	r := s.open("repo")
	s.create(r, "repo-a-b", "a/b")
	s.create(r, "gone", "gone")
	s.create(r, "broken", "broken")
	s.git("", "clone", "-q", "repo", "clone")
	s.write("clone-x/file", "mine")
	s.git("repo", "worktree", "add", "-q", "--detach", "../detached")
	s.git("repo", "branch", "apart", s.git("repo", "commit-tree", "-m", "apart", "HEAD^{tree}"))
	for _, err := range []error{os.RemoveAll(s.path("gone")), os.Remove(s.path("broken/.git")), os.Symlink(s.path("repo-a-b"), s.path("link"))} {
		must.Do(t, err)
	}
	before := s.git("repo", "for-each-ref") + s.git("repo", "worktree", "list")
	var conflict *worktree.ConflictError
	for _, tc := range []struct {
		dir, branch, base string
		says              string
	}{
		{"repo-a-b", "a-b", "", "repo-a-b is a worktree on branch a/b"},
		{"elsewhere", "a/b", "", "branch a/b is checked out in " + s.path("repo-a-b")},
		{"elsewhere", "main", "", "branch main is checked out in " + s.path("repo")},
		{"repo", "new", "", "repo is a worktree on branch main"},
		{"detached", "new", "", "detached is a worktree on no branch"},
		{"clone", "new", "", "clone exists and is not a worktree of this repository"},
		{"clone-x", "new", "", "clone-x exists"},
		{"link", "a/b", "", "branch a/b is checked out in"},
		{"gone", "gone", "", "whose directory is gone"},
		{"gone", "other", "", "whose directory is gone"},
		{"broken", "broken", "", "whose directory is gone"},
		{"elsewhere", "apart", "main", "branch apart exists and does not contain main"},
	} {
		made, err := r.Create(t.Context(), worktree.CreateOptions{Dir: s.path(tc.dir), Branch: tc.branch, Base: tc.base})
		if !errors.As(err, &conflict) || !strings.Contains(err.Error(), tc.says) || conflict.Hint == "" {
			t.Errorf("%+v: %+v, %v", tc, made, err)
		}
	}
	for _, base := range []string{"nowhere", "origin/nowhere", "-b", "--all", "v1"} {
		if _, err := r.Create(t.Context(), worktree.CreateOptions{Dir: s.path("elsewhere"), Branch: "new", Base: base}); !errors.Is(err, worktree.ErrNoCommit) {
			t.Errorf("base %s: %v", base, err)
		}
	}
	for _, branch := range []string{"", "-x", "a b", "a..b", "x.lock", "@{-1}", "a/", "x\ny"} {
		if _, err := r.Create(t.Context(), worktree.CreateOptions{Dir: s.path("elsewhere"), Branch: branch}); !errors.Is(err, worktree.ErrBadName) {
			t.Errorf("branch %q: %v", branch, err)
		}
	}
	if after := s.git("repo", "for-each-ref") + s.git("repo", "worktree", "list"); after != before {
		t.Errorf("before:\n%s\nafter:\n%s", before, after)
	}
	if s.names("clone-x") != "file" {
		t.Error("what was there has changed")
	}
}

// An empty repository has nothing to start from.
func TestCreateInEmptyRepository(t *testing.T) {
	s := newSandbox(t)
	s.git("", "init", "-q", "empty")
	if _, err := s.open("empty").Create(t.Context(), worktree.CreateOptions{Dir: s.path("x"), Branch: "x"}); !errors.Is(err, worktree.ErrNoCommit) {
		t.Error(err)
	}
}

// What git has made is taken back if a hook fails, with the branch if that was made too.
func TestCreateTakesBack(t *testing.T) {
	s := newSandbox(t)
	s.git("repo", "branch", "old")
	before := s.git("repo", "for-each-ref") + s.git("repo", "worktree", "list")
	s.write("repo/.git/hooks/post-checkout", "#!/bin/sh\necho no room >&2\necho >made-by-hook\nexit 3\n")
	for _, branch := range []string{"new", "old"} {
		_, err := s.open("repo").Create(t.Context(), worktree.CreateOptions{Dir: s.path("above/new"), Branch: branch})
		if err == nil || !strings.Contains(err.Error(), "no room") {
			t.Errorf("%v", err)
		}
		if after := s.git("repo", "for-each-ref") + s.git("repo", "worktree", "list"); after != before {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
		if _, err := os.Stat(s.path("above")); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("the directory is left: %v", err)
		}
	}
}

// An interrupt in the middle takes back what there is. The filter that git runs for a file waits until then.
func TestCreateInterrupted(t *testing.T) {
	s := newSandbox(t)
	begun := s.blockCheckout()
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() {
		_, err := s.open("repo").Create(ctx, worktree.CreateOptions{Dir: s.path("new"), Branch: "new"})
		ended <- err
	}()
	begun()
	cancel()
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if list := s.list(s.open("repo")); len(list) != 1 || s.git("repo", "branch", "--list", "new") != "" {
		t.Errorf("%+v is left", list)
	}
	if _, err := os.Stat(s.path("new")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the directory is left: %s", s.names("new"))
	}
}

// Of two branches that would share a directory, one gets it. Of many calls for one branch, all get the same.
func TestCreateAtOnce(t *testing.T) {
	s := newSandbox(t)
	var mu sync.Mutex
	made, refused := map[string]int{}, 0
	var wg sync.WaitGroup
	for _, branch := range []string{"a/b", "a-b", "a/b", "a-b", "a/b", "a-b"} {
		wg.Go(func() {
			r, err := worktree.Open(t.Context(), hostOf(s), s.path("repo"))
			if err != nil {
				t.Error(err)
				return
			}
			m, err := r.Create(t.Context(), worktree.CreateOptions{Dir: s.path("repo-a-b"), Branch: branch})
			mu.Lock()
			defer mu.Unlock()
			if conflict := (*worktree.ConflictError)(nil); errors.As(err, &conflict) {
				refused++
			} else if err != nil {
				t.Error(err)
			} else if m.New {
				made["new "+m.Branch]++
			} else {
				made[m.Branch]++
			}
		})
	}
	wg.Wait()
	branch := s.at(s.open("repo"), "repo-a-b").Branch
	if made["new "+branch] != 1 || made[branch] != 2 || refused != 3 || len(made) != 2 {
		t.Errorf("on %s: %v, %d refused", branch, made, refused)
	}
	if n := len(s.list(s.open("repo"))); n != 2 {
		t.Errorf("%d worktrees", n)
	}
}

// stuck is a `git worktree add` of a person that has begun to write files, and does not get on. The returned function
// kills it and what it has started.
func (s *sandbox) stuck(args ...string) (kill func()) {
	s.Helper()
	begun := s.blockCheckout()
	cmd := s.gitCommand("repo", append([]string{"worktree", "add", "-q"}, args...)...)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { end(cmd) })
	begun()
	s.unblockCheckout()
	return func() {
		end(cmd)
		for left := true; left; { // its children end at the same time, and not at once
			table, err := proc.ReadTable(s.Context(), false)
			if left = false; err != nil {
				s.Fatal(err)
			}
			for p := range table.All() {
				left = left || p.Alive() && p.Group == cmd.Process.Pid
			}
		}
	}
}

func end(cmd *exec.Cmd) {
	if cmd.ProcessState == nil {
		_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		_ = cmd.Wait() // how it ended is known
	}
}

// While git makes a worktree, nobody touches it. When it was killed, the next call makes it anew, or removes it.
func TestHalfMade(t *testing.T) {
	for name, next := range map[string]func(*sandbox) error{
		"create": func(s *sandbox) error {
			made, err := s.open("repo").Create(t.Context(), worktree.CreateOptions{Dir: s.path("x"), Branch: "x"})
			if err == nil && (!made.New || made.NewBranch || s.git("x", "status", "--porcelain") != "") {
				s.Errorf("%+v", made)
			}
			return err
		},
		"elsewhere": func(s *sandbox) error {
			_, err := s.open("repo").Create(t.Context(), worktree.CreateOptions{Dir: s.path("y"), Branch: "x"})
			return err
		},
		"another branch": func(s *sandbox) error {
			_, err := s.open("repo").Create(t.Context(), worktree.CreateOptions{Dir: s.path("x"), Branch: "y"})
			return err
		},
		"remove": func(s *sandbox) error {
			r := s.open("repo")
			return r.Remove(t.Context(), s.at(r, "x"), worktree.RemoveOptions{DeleteBranch: true})
		},
		"remove what was removed in part": func(s *sandbox) error {
			r := s.open("repo")
			w := s.at(r, "x")
			if o := (worktree.RemoveOptions{DryRun: true}); why(t, r.Remove(t.Context(), w, o)) == "" {
				s.remove("x/.git")
			}
			return r.Remove(t.Context(), w, worktree.RemoveOptions{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			kill := s.stuck("-b", "x", "../x")
			var conflict *worktree.ConflictError
			var refused *worktree.RefusedError
			if err := next(s); !errors.As(err, &conflict) && (!errors.As(err, &refused) || why(t, err) != "making") {
				t.Errorf("while git is at work: %v", err)
			}
			if w := s.at(s.open("repo"), "x"); !w.Incomplete() || w.Branch != "x" {
				t.Errorf("%+v", w)
			}
			kill()
			if err := next(s); err != nil {
				t.Errorf("when git was killed: %v", err)
			}
			for _, w := range s.list(s.open("repo")) {
				if w.Locked {
					t.Errorf("%+v", w)
				}
			}
		})
	}
}

// A worktree of which only git's lock was left is whole: it is used, and removed as any other.
func TestOnlyLockLeft(t *testing.T) {
	s := newSandbox(t)
	r := s.open("repo")
	for _, name := range []string{"x", "y"} {
		s.create(r, name, name)
		s.write("repo/.git/worktrees/"+name+"/locked", "initializing")
		s.write(name+"/mine", "1")
	}
	if made := s.create(r, "x", "x"); made.New || made.Locked || s.at(r, "x").Locked {
		t.Errorf("%+v", made)
	}
	y := s.at(r, "y")
	if got := why(t, r.Remove(t.Context(), y, worktree.RemoveOptions{})); got != "dirty" {
		t.Error(got)
	}
	if err := r.Remove(t.Context(), y, worktree.RemoveOptions{Force: true}); err != nil {
		t.Error(err)
	}
	if s.names("x") != ".git a dir mine" {
		t.Error(s.names("x"))
	}
}

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
