package worktree_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"agentctl/launch/worktree"
)

// why are the reasons for which removing was refused, in one line.
func why(t *testing.T, err error) string {
	t.Helper()
	var refused *worktree.RefusedError
	if err == nil {
		return ""
	}
	if !errors.As(err, &refused) || refused.Path == "" {
		t.Fatal(err)
	}
	var out []string
	for _, r := range refused.Reasons {
		if r.Text == "" {
			t.Errorf("%v says nothing", r)
		}
		out = append(out, string(r.Code))
	}
	return strings.Join(out, " ")
}

// situations are worktrees "x" on branch "x", why they are not removed – without anything, with deletion of the branch,
// with force – and what the second of them says.
func situations() map[string]struct {
	make                 func(*sandbox)
	plain, branch, force string
	says                 string
} {
	type situation = struct {
		make                 func(*sandbox)
		plain, branch, force string
		says                 string
	}
	return map[string]situation{
		"clean":     {func(s *sandbox) {}, "", "", "", ""},
		"ignored":   {func(s *sandbox) { s.write("repo/.git/info/exclude", "log\n"); s.write("x/log", "1") }, "", "", "", ""},
		"changed":   {func(s *sandbox) { s.write("x/a", "other") }, "dirty", "dirty", "", "1 changed file"},
		"deleted":   {func(s *sandbox) { s.git("x", "rm", "-q", "a") }, "dirty", "dirty", "", "1 changed file"},
		"renamed":   {func(s *sandbox) { s.git("x", "mv", "a", "? new") }, "dirty", "dirty", "", "1 changed file"},
		"untracked": {func(s *sandbox) { s.write("x/1 new", "1"); s.write("x/many/1", "1"); s.write("x/many/2", "1") }, "dirty", "dirty", "", "2 untracked files"},
		"hidden untracked": {func(s *sandbox) {
			s.git("repo", "config", "status.showUntrackedFiles", "no")
			s.write("x/new", "1")
		}, "dirty", "dirty", "", "1 untracked file"},
		"unmerged":       {func(s *sandbox) { s.commit("x", "mine") }, "", "unmerged", "", "1 commit on no other"},
		"merged":         {func(s *sandbox) { s.commit("x", "mine"); s.git("repo", "merge", "-q", "x") }, "", "", "", ""},
		"on a remote":    {func(s *sandbox) { s.commit("x", "mine"); s.git("x", "update-ref", "refs/remotes/o/x", "x") }, "", "", "", ""},
		"on a tag":       {func(s *sandbox) { s.commit("x", "mine"); s.git("x", "tag", "done") }, "", "", "", ""},
		"on another":     {func(s *sandbox) { s.commit("x", "mine"); s.git("x", "branch", "xx") }, "", "", "", ""},
		"detached":       {func(s *sandbox) { s.git("x", "checkout", "-q", "--detach") }, "", "", "", ""},
		"detached ahead": {func(s *sandbox) { s.git("x", "checkout", "-q", "--detach"); s.commit("x", "mine") }, "unmerged", "unmerged", "", "1 commit on no other"},
		"locked":         {func(s *sandbox) { s.git("x", "worktree", "lock", s.path("x")) }, "locked", "locked", "locked", ""},
		"locked and more": {func(s *sandbox) {
			s.git("x", "worktree", "lock", "--reason", "mine", s.path("x"))
			s.write("x/new", "1")
		}, "locked dirty", "locked dirty", "locked", "1 untracked file"},
		"nested": {func(s *sandbox) {
			s.write("repo/.git/info/exclude", "inner\n")
			s.git("x", "worktree", "add", "-q", "-b", "inner", "inner")
		}, "nested", "nested", "nested", ""},
		"gone":       {func(s *sandbox) { s.remove("x") }, "", "", "", ""},
		"gone ahead": {func(s *sandbox) { s.commit("x", "mine"); s.remove("x") }, "", "unmerged", "", "1 commit on no other"},
		"emptied":    {func(s *sandbox) { s.write("x/.git", "") }, "broken", "broken", "", ".git is missing"},
		"unlinked":   {func(s *sandbox) { s.remove("x/.git") }, "broken", "broken", "", ".git is missing"},
	}
}

func (s *sandbox) remove(name string) {
	s.Helper()
	if err := os.RemoveAll(s.path(name)); err != nil {
		s.Fatal(err)
	}
}

func TestRemove(t *testing.T) {
	for name, tc := range situations() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newSandbox(t)
			r := s.open("repo")
			s.create(r, "x", "x")
			tc.make(s)
			w := s.at(r, "x")
			before := s.git("repo", "for-each-ref") + s.git("repo", "worktree", "list")
			for _, dry := range []bool{true, false} {
				o := worktree.RemoveOptions{DryRun: dry, DeleteBranch: true}
				if !dry && tc.branch == "" {
					break // it would be removed
				}
				err := r.Remove(t.Context(), w, o)
				if got := why(t, err); got != tc.branch || !strings.Contains(fmt.Sprint(err), tc.says) {
					t.Errorf("with its branch: %s, want %s: %v", got, tc.branch, err)
				}
			}
			if got := why(t, r.Remove(t.Context(), w, worktree.RemoveOptions{DryRun: true})); got != tc.plain {
				t.Errorf("%s, want %s", got, tc.plain)
			}
			own := worktree.RemoveOptions{Force: true, Reasons: []worktree.Reason{{Code: worktree.ReasonSession, Text: "someone works there"}}}
			if got := why(t, r.Remove(t.Context(), w, own)); got != strings.TrimSpace("session "+tc.force) {
				t.Errorf("with the caller's reason: %s", got)
			}
			if after := s.git("repo", "for-each-ref") + s.git("repo", "worktree", "list"); after != before {
				t.Errorf("before:\n%s\nafter:\n%s", before, after)
			}
			s.finish(r, w, tc.plain == "", tc.force)
		})
	}
}

// finish removes w, with force if need be, and its branch.
func (s *sandbox) finish(r *worktree.Repo, w worktree.Worktree, plain bool, force string) {
	s.Helper()
	if plain {
		if err := r.Remove(s.Context(), w, worktree.RemoveOptions{}); err != nil {
			s.Error(err)
		}
		if w.Branch != "" && s.git("repo", "branch", "--list", w.Branch) == "" {
			s.Error("the branch is gone too")
		}
		return
	}
	if got := why(s.T, r.Remove(s.Context(), w, worktree.RemoveOptions{Force: true, DeleteBranch: true})); got != force {
		s.Errorf("with force: %s, want %s", got, force)
	}
	if force != "" {
		return
	}
	if slices.ContainsFunc(s.list(r), func(l worktree.Worktree) bool { return l.Path == w.Path }) {
		s.Error("it is still there")
	}
	if _, err := os.Lstat(w.Path); !errors.Is(err, fs.ErrNotExist) {
		s.Errorf("the directory is still there: %v", err)
	}
	if w.Branch != "" && s.git("repo", "branch", "--list", w.Branch) != "" {
		s.Error("the branch is still there")
	}
}

func TestRemoveMainAndUnknown(t *testing.T) {
	s := newSandbox(t)
	r := s.open("repo")
	s.git("", "clone", "-q", "--bare", "repo", "bare.git")
	bare := s.open("bare.git")
	for _, o := range []worktree.RemoveOptions{{}, {Force: true, DeleteBranch: true}} {
		if got := why(t, r.Remove(t.Context(), s.at(r, "repo"), o)); got != "main" {
			t.Error(got)
		}
		if got := why(t, bare.Remove(t.Context(), s.at(bare, "bare.git"), o)); got != "main" {
			t.Error(got)
		}
		if err := r.Remove(t.Context(), worktree.Worktree{Path: s.path("none")}, o); !errors.Is(err, worktree.ErrNoWorktree) {
			t.Error(err)
		}
	}
}

// A branch is deleted by itself too, if nothing is lost or one insists.
func TestDeleteBranch(t *testing.T) {
	s := newSandbox(t)
	r := s.open("repo")
	s.git("repo", "branch", "try/g-1/same")
	s.git("repo", "branch", "try/g-1/ahead", s.git("repo", "commit-tree", "-m", "x", "HEAD^{tree}"))
	s.git("repo", "branch", "try/g-12/other")
	if got, err := r.Branches(t.Context(), "g-1"); err != nil || strings.Join(got, " ") != "try/g-1/ahead try/g-1/same" {
		t.Errorf("%q, %v", got, err)
	}
	for _, tc := range []struct {
		branch string
		o      worktree.RemoveOptions
		why    string
		left   bool
	}{
		{"try/g-1/same", worktree.RemoveOptions{DryRun: true}, "", true},
		{"try/g-1/same", worktree.RemoveOptions{}, "", false},
		{"try/g-1/ahead", worktree.RemoveOptions{DryRun: true}, "unmerged", true},
		{"try/g-1/ahead", worktree.RemoveOptions{}, "unmerged", true},
		{"try/g-1/ahead", worktree.RemoveOptions{Force: true}, "", false},
	} {
		if got := why(t, r.DeleteBranch(t.Context(), tc.branch, tc.o)); got != tc.why {
			t.Errorf("%+v: %s", tc, got)
		}
		if left := s.git("repo", "branch", "--list", tc.branch) != ""; left != tc.left {
			t.Errorf("%+v: left %v", tc, left)
		}
	}
	for _, branch := range []string{"none", "main"} {
		if err := r.DeleteBranch(t.Context(), branch, worktree.RemoveOptions{Force: true}); err == nil {
			t.Errorf("%s is deleted", branch)
		}
	}
}

// Where submodules are, their repositories go with the worktree.
func TestRemoveWithSubmodule(t *testing.T) {
	s := newSandbox(t)
	s.git("", "clone", "-q", "repo", "other")
	s.git("repo", "submodule", "--quiet", "add", s.path("other"), "sub")
	s.commit("repo", "with sub")
	r := s.open("repo")
	w := s.create(r, "x", "x").Worktree
	if got := why(t, r.Remove(t.Context(), w, worktree.RemoveOptions{DryRun: true})); got != "" {
		t.Errorf("without its repository: %s", got)
	}
	s.git("x", "submodule", "--quiet", "update", "--init")
	if got := why(t, r.Remove(t.Context(), w, worktree.RemoveOptions{})); got != "submodules" {
		t.Error(got)
	}
	s.write("x/sub/a", "other")
	if got := why(t, r.Remove(t.Context(), w, worktree.RemoveOptions{})); got != "dirty submodules" {
		t.Error(got)
	}
	s.finish(r, w, false, "")
}
