package worktree_test

import (
	"errors"
	"os"
	"strings"
	"testing"

	"agentctl/discover"
	"agentctl/launch"
	"agentctl/launch/worktree"
	"agentctl/lock"
	"agentctl/tests/must"
)

// Whatever git knows of a worktree is told, wherever in the repository one asks, and whatever its path is.
func TestList(t *testing.T) {
	s := newSandbox(t)
	head := s.git("repo", "rev-parse", "HEAD")
	odd := "odd \"x\"\n日本\xff"
	s.git("repo", "worktree", "add", "-q", "-b", "feature/x", "nested/one")
	s.git("repo", "worktree", "add", "-q", "--detach", "../"+odd)
	s.git("repo", "worktree", "add", "-q", "-b", "kept", "--lock", "--reason", "a disk\nof mine", "../kept")
	s.git("repo", "worktree", "add", "-q", "-b", "quiet", "../quiet")
	s.git("repo", "worktree", "lock", "../quiet")
	s.git("repo", "worktree", "add", "-q", "-b", "gone", "../gone")
	must.Do(t, os.RemoveAll(s.path("gone")))
	want := map[string]worktree.Worktree{
		"repo":            {Main: true, Branch: "main"},
		"repo/nested/one": {Branch: "feature/x"},
		odd:               {Detached: true},
		"kept":            {Branch: "kept", Locked: true, LockReason: "a disk\nof mine"},
		"quiet":           {Branch: "quiet", Locked: true},
		"gone":            {Branch: "gone", Prunable: true, PruneReason: "gitdir file points to non-existent location"},
	}
	for _, dir := range []string{"repo", "repo/dir", "repo/.git", "repo/nested/one/dir", odd} {
		list := s.list(s.open(dir))
		if len(list) != len(want) || !list[0].Main {
			t.Fatalf("%s: %+v", dir, list)
		}
		for name, w := range want {
			w.Path, w.Head = s.path(name), head
			if got := s.at(s.open(dir), name); got != w {
				t.Errorf("%s: %+v, want %+v", dir, got, w)
			}
		}
	}
}

// Git repeats what its files say. What no system could hold is cut.
func TestListCutsTexts(t *testing.T) {
	s := newSandbox(t)
	s.git("repo", "worktree", "add", "-q", "-b", "one", "../one")
	s.git("repo", "worktree", "lock", "../one")
	admin := s.path("repo/.git/worktrees/one")
	for name, content := range map[string]string{"gitdir": "/", "locked": ""} {
		must.Do(t, os.WriteFile(admin+"/"+name, []byte(content+strings.Repeat("long", 1<<20)), 0o600))
	}
	list := s.list(s.open("repo"))
	if len(list) != 2 {
		t.Fatalf("%d worktrees", len(list))
	}
	for _, text := range []string{list[1].Path, list[1].LockReason} {
		if len(text) > discover.PathLimit || !strings.Contains(text, "long") {
			t.Errorf("%d bytes: %.40q", len(text), text)
		}
	}
}

func TestListBareAndEmpty(t *testing.T) {
	s := newSandbox(t)
	s.git("", "clone", "-q", "--bare", "repo", "bare.git")
	s.git("bare.git", "worktree", "add", "-q", "../of-bare", "main")
	s.git("", "init", "-q", "empty")
	for _, dir := range []string{"bare.git", "of-bare"} {
		r := s.open(dir)
		if got := s.at(r, "bare.git"); !got.Bare || !got.Main || got.Head != "" || got.Branch != "" {
			t.Errorf("%+v", got)
		}
		if got := s.at(r, "of-bare"); got.Bare || got.Main || got.Branch != "main" || got.Head == "" {
			t.Errorf("%+v", got)
		}
	}
	if got := s.at(s.open("empty"), "empty"); got.Head != "" || got.Branch != "main" {
		t.Errorf("%+v", got)
	}
}

// A submodule's own repository is at its place in the tree, not where git keeps it.
func TestListSubmodule(t *testing.T) {
	s := newSandbox(t)
	s.git("", "clone", "-q", "repo", "super")
	s.git("super", "submodule", "--quiet", "add", s.path("repo"), "sub")
	for _, dir := range []string{"super/sub", "super/sub/dir"} {
		if got := s.list(s.open(dir)); len(got) != 1 || got[0].Path != s.path("super/sub") {
			t.Errorf("%s: %+v", dir, got)
		}
	}
}

func TestOpenErrors(t *testing.T) {
	s := newSandbox(t)
	must.Do(t, os.Mkdir(s.path("plain"), 0o755))
	host := launch.Environment{Environ: s.env}
	if _, err := worktree.Open(t.Context(), host, s.path("plain")); !errors.Is(err, lock.ErrNoRepository) {
		t.Error(err)
	}
	if _, err := worktree.Open(t.Context(), host, s.path("none")); err == nil || errors.Is(err, lock.ErrNoRepository) {
		t.Error(err)
	}
	host.Environ = []string{"PATH=" + s.path("plain")}
	if _, err := worktree.Open(t.Context(), host, s.path("repo")); !errors.Is(err, worktree.ErrNoGit) {
		t.Error(err)
	}
}

func TestNames(t *testing.T) {
	for _, tc := range []struct {
		main   worktree.Worktree
		branch string
		want   string
	}{
		{worktree.Worktree{Path: "/w/repo"}, "feature/a/b", "/w/repo-feature-a-b"},
		{worktree.Worktree{Path: "/w/repo.git", Bare: true}, "x", "/w/repo-x"},
		{worktree.Worktree{Path: "/w/repo.git"}, "x", "/w/repo.git-x"},
		{worktree.Worktree{Path: "/w/.git", Bare: true}, "x", "/w/.git-x"},
		{worktree.Worktree{Path: "/w/repo"}, worktree.GroupBranch("g-1", "cc"), "/w/repo-try-g-1-cc"},
	} {
		if got := worktree.DefaultDir(tc.main, tc.branch); got != tc.want {
			t.Errorf("%+v: %s", tc, got)
		}
	}
	seen := map[string]bool{}
	for range 100 {
		g := worktree.NewGroupID()
		if len(g) != len("g-")+6 || discover.GroupOfBranch(worktree.GroupBranch(g, "cc-opus")) != g {
			t.Errorf("%q", g)
		}
		seen[g] = true
	}
	if len(seen) < 95 { // of 16 million; two equal ones are likely once in 3,000 runs
		t.Errorf("%d of 100 differ", len(seen))
	}
}
