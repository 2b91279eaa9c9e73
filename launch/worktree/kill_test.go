//go:build linux && (amd64 || arm64)

package worktree_test

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"agentctl/launch/worktree"
	"agentctl/tests/extent"
	"agentctl/tests/trace"
)

// killed runs the helper and kills it, or the git that it runs, at the nth change that it makes below the sandbox. It
// returns what the helper said, and whether it came that far.
func (s *sandbox) killed(what string, n int, who trace.Victims) (said string, reached bool) {
	s.Helper()
	cmd := exec.Command(os.Args[0], s.path("repo"), s.path("x"))
	cmd.Env = append(slices.Clip(s.env), helperKey+"="+what)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	changes := 0
	r, err := trace.Kill(cmd, func(c trace.Call) trace.Victims {
		switch c.Effect {
		case trace.Create, trace.Write, trace.Truncate, trace.Rename, trace.Remove:
			if strings.HasPrefix(c.Path, s.root+"/") || strings.HasPrefix(c.To, s.root+"/") {
				if changes++; changes == n {
					reached = true
					return who
				}
			}
		}
		return trace.Nobody
	})
	if err != nil {
		s.Fatal(err)
	}
	if !reached && r.Exit != 0 {
		s.Fatalf("%s: exit %d, %s", what, r.Exit, &out)
	}
	return out.String(), reached
}

// sound fails unless main is as it was, and what git lists as whole is.
func (s *sandbox) sound(made bool) {
	s.Helper()
	if got := s.git("repo", "status", "--porcelain") + s.git("repo", "fsck", "--no-dangling"); got != "" {
		s.Errorf("main: %s", got)
	}
	for _, w := range s.list(s.open("repo")) {
		if w.Path == s.path("x") && made && (w.Incomplete() || w.Prunable || w.Branch != "try/g-1/b" || s.git("x", "status", "--porcelain") != "") {
			s.Errorf("%+v", w)
		}
	}
}

// unlocked does something; if a lock file that git has left keeps it from that, the error names it, and it is removed, as
// git says that a person must.
func (s *sandbox) unlocked(do func() error) error {
	s.Helper()
	for {
		err := do()
		if err == nil {
			return nil
		}
		m := regexp.MustCompile(`nable to create (?:file |')(\S+\.(?:lock|new))`).FindStringSubmatch(err.Error())
		if m == nil {
			return err
		}
		name := m[1]
		if !filepath.IsAbs(name) {
			name = s.path("repo/.git", name)
		}
		if err := os.Remove(name); err != nil {
			s.Fatal(err)
		}
	}
}

// nothing fails if anything is left of the worktree x and its branch, but for directories with nothing in them.
func (s *sandbox) nothing(when string) {
	s.Helper()
	for _, dir := range []string{"x", "repo/.git/worktrees"} {
		if err := os.Remove(s.path(dir)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			s.Errorf("%s: %v: %s", when, err, s.names(dir))
		}
	}
	if got := s.git("repo", "branch", "--list", "try/*"); got != "" {
		s.Errorf("%s: the branch is left: %s", when, got)
	}
	s.sound(false)
}

// clean removes the worktree and its branch, whichever of them is there.
func (s *sandbox) clean(force bool) error {
	r := s.open("repo")
	o := worktree.RemoveOptions{Force: force}
	err := s.unlocked(func() error { return r.Remove(s.Context(), worktree.Worktree{Path: s.path("x")}, o) })
	if err != nil && !errors.Is(err, worktree.ErrNoWorktree) || s.git("repo", "branch", "--list", "try/*") == "" {
		return err
	}
	return s.unlocked(func() error { return r.DeleteBranch(s.Context(), "try/g-1/b", o) })
}

// step is from how many changes one is taken: each, if all is asked for.
func step() int {
	if extent.All() {
		return 1
	}
	return 5
}

// Whenever everything is killed while a worktree is made, the next call makes it, and it can be removed.
func TestKilledCreating(t *testing.T) {
	t.Parallel()
	for n := 1; ; n += step() {
		s := newSandbox(t)
		_, reached := s.killed("create", n, trace.Everybody)
		err := s.unlocked(func() error {
			_, err := s.open("repo").Create(context.Background(), worktree.CreateOptions{Dir: s.path("x"), Branch: "try/g-1/b"})
			return err
		})
		if err != nil {
			t.Errorf("change %d: creating again: %v", n, err)
		} else if s.sound(true); t.Failed() {
			t.Errorf("change %d", n)
		} else if err := s.clean(false); err != nil {
			t.Errorf("change %d: removing: %v", n, err)
		}
		s.nothing("in the end")
		if t.Failed() {
			t.Fatalf("at change %d", n)
		}
		if !reached {
			t.Logf("%d changes", n-1)
			return
		}
	}
}

// Whenever everything is killed while a worktree is made, it can be removed at once, without force.
func TestKilledCreatingThenClean(t *testing.T) {
	t.Parallel()
	for n := 1; ; n += step() {
		s := newSandbox(t)
		_, reached := s.killed("create", n, trace.Everybody)
		err := s.clean(false)
		if err != nil && !errors.Is(err, worktree.ErrNoWorktree) {
			t.Errorf("%v", err)
		}
		s.nothing("after clean")
		if t.Failed() {
			t.Fatalf("at change %d", n)
		}
		if !reached {
			return
		}
	}
}

// Whenever git is killed alone, what it has made is taken back.
func TestGitKilledCreating(t *testing.T) {
	t.Parallel()
	for n := 1; ; n += step() {
		s := newSandbox(t)
		said, reached := s.killed("create", n, trace.Caller)
		if !reached {
			return
		}
		if !strings.Contains(said, ".lock'") { // git keeps itself from taking back what it made
			if said == "" {
				t.Error("it says nothing")
			}
			s.nothing("after git was killed")
		}
		if t.Failed() {
			t.Fatalf("at change %d: %s", n, said)
		}
	}
}

// Whenever everything, or git alone, is killed while a worktree is removed, the next call says what is left, and can
// remove it.
func TestKilledRemoving(t *testing.T) {
	for name, who := range map[string]trace.Victims{"everybody": trace.Everybody, "git": trace.Caller} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := 1; ; n += step() {
				s := newSandbox(t)
				s.create(s.open("repo"), "x", "try/g-1/b")
				_, reached := s.killed("remove", n, who)
				err := s.clean(false)
				if refused := (*worktree.RefusedError)(nil); errors.As(err, &refused) {
					if got := why(t, err); got != "dirty" && got != "broken" {
						t.Errorf("refused: %s", got)
					}
					err = s.clean(true)
				}
				if err != nil && !errors.Is(err, worktree.ErrNoWorktree) {
					t.Errorf("%v", err)
				}
				s.nothing("in the end")
				if t.Failed() {
					t.Fatalf("at change %d", n)
				}
				if !reached {
					t.Logf("%d changes", n-1)
					return
				}
			}
		})
	}
}
