package worktree_test

import (
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"

	"agentctl/launch/worktree"
)

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
		// Its children end at the same time; the filter is the last to let go of what it reads.
		for {
			f, err := os.OpenFile(s.path("never"), os.O_WRONLY|syscall.O_NONBLOCK, 0)
			if errors.Is(err, syscall.ENXIO) {
				return
			}
			f.Close()
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
