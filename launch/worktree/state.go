package worktree

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// State is what would be lost with a worktree. Stashes would not: all worktrees share them.
type State struct {
	// Changed counts tracked files that differ from the commit, in submodules too; Untracked those that git neither
	// tracks nor ignores, a whole directory of them once.
	Changed, Untracked int
	// Unmerged counts commits that no other branch, remote branch or tag holds.
	Unmerged int
	// Submodules: there are repositories of submodules in it, which have commits of their own.
	Submodules bool
	// Broken: its directory is there, but is linked to the repository no more, so that git cannot tell what is in it.
	Broken bool
}

// State asks git what is in a worktree that [Repo.List] returned. Of one whose directory is gone, only commits can be
// lost.
func (r *Repo) State(ctx context.Context, w Worktree) (s State, err error) {
	if s.Unmerged, err = r.unmerged(ctx, w.Head, w.Branch); err != nil || w.Bare || !exists(w.Path) {
		return s, err
	}
	linked, err := r.linked(ctx, w.Path)
	if !linked || err != nil {
		s.Broken = !linked
		return s, err
	}
	modules, err := r.git(ctx, w.Path, "rev-parse", "--path-format=absolute", "--git-path", "modules")
	if err != nil {
		return s, err
	}
	inside, err := os.ReadDir(strings.TrimSuffix(modules, "\n"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return s, err
	}
	s.Submodules = len(inside) > 0
	status, err := r.git(ctx, w.Path, "status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=none")
	s.count(status)
	return s, err
}

// count reads git-status(1), porcelain v2: a letter for the kind of line, and after a rename (2) the former name.
func (s *State) count(status string) {
	lines := strings.Split(status, "\x00")
	for i := 0; i < len(lines); i++ {
		kind, _, _ := strings.Cut(lines[i], " ")
		switch kind {
		case "1", "u":
			s.Changed++
		case "2":
			s.Changed++
			i++
		case "?":
			s.Untracked++
		}
	}
}

// linked reports whether git, in that directory, takes it for the top of a worktree of this repository. It may be lost
// in another one, which it lies in.
func (r *Repo) linked(ctx context.Context, path string) (bool, error) {
	out, err := r.git(ctx, path, "rev-parse", "--show-cdup", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return false, ctx.Err() // it is in none
	}
	common, top := strings.CutPrefix(strings.TrimSuffix(out, "\n"), "\n")
	real, err := filepath.EvalSymlinks(common)
	return top && err == nil && real == r.common, nil
}

// unmerged counts the commits that are on head and on no branch but this one.
func (r *Repo) unmerged(ctx context.Context, head, branch string) (int, error) {
	if head == "" {
		return 0, nil
	}
	args := []string{"rev-list", "--count", head, "--not"}
	if branch != "" {
		args = append(args, "--exclude="+branch)
	}
	out, err := r.git(ctx, r.common, append(args, "--branches", "--remotes", "--tags")...)
	if err != nil {
		return 0, err
	}
	return strconv.Atoi(strings.TrimSpace(out))
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
