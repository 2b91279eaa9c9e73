package worktree

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// lossReasons returns the reasons against removing w that are about what would be lost. Commits are lost with their branch, or,
// without a branch, with the worktree. Stashes are not lost: all worktrees share them.
func (r *Repo) lossReasons(ctx context.Context, w Worktree, at createStage, deleteBranch bool) ([]Reason, error) {
	var commits []Reason
	if deleteBranch || w.Branch == "" {
		n, err := r.countUnmerged(ctx, w.Head, w.Branch)
		if err != nil {
			return nil, err
		}
		commits = unmergedReasons(n)
	}
	if at == interrupted || w.Bare || !exists(w.Path) {
		return commits, nil // its files, if any, are those that git had written when it was killed
	}
	linked, err := r.isWorktreeTop(ctx, w.Path)
	if err != nil {
		return nil, err
	}
	if !linked {
		return append(commits, Reason{ReasonBroken, "its .git is missing or belongs to another worktree, so git cannot say what is in it"}), nil
	}
	modules, err := r.submoduleReasons(ctx, w.Path)
	if err != nil {
		return nil, err
	}
	status, err := r.git(ctx, w.Path, "status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignore-submodules=none")
	return slices.Concat(dirtyReasons(status), commits, modules), err
}

func dirtyReasons(status string) []Reason {
	var c Changes
	c.countFiles(status)
	var files []string
	if c.Changed > 0 {
		files = append(files, plural(c.Changed, "changed file"))
	}
	if c.Untracked > 0 {
		files = append(files, plural(c.Untracked, "untracked file"))
	}
	if len(files) == 0 {
		return nil
	}
	return []Reason{{ReasonDirty, "it has " + strings.Join(files, " and ")}}
}

func unmergedReasons(commits int) []Reason {
	if commits == 0 {
		return nil
	}
	return []Reason{{ReasonUnmerged, plural(commits, "commit") + " on no other branch, remote branch or tag"}}
}

// submoduleReasons returns a reason if the worktree contains repositories of submodules, which have commits of their own.
func (r *Repo) submoduleReasons(ctx context.Context, path string) ([]Reason, error) {
	modules, err := r.git(ctx, path, "rev-parse", "--path-format=absolute", "--git-path", "modules")
	if err != nil {
		return nil, err
	}
	inside, err := os.ReadDir(strings.TrimSuffix(modules, "\n"))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil || len(inside) == 0:
		return nil, err
	}
	return []Reason{{ReasonSubmodules, "it holds the repositories of its submodules"}}, nil
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// isWorktreeTop reports whether git takes a directory for the top of a worktree of this repository. Without its .git, the
// directory is a part of a worktree above it, if there is one.
func (r *Repo) isWorktreeTop(ctx context.Context, path string) (bool, error) {
	out, err := r.git(ctx, path, "rev-parse", "--show-cdup", "--path-format=absolute", "--git-common-dir")
	if err != nil {
		return false, ctx.Err() // it is in no repository
	}
	common, top := strings.CutPrefix(strings.TrimSuffix(out, "\n"), "\n")
	real, err := filepath.EvalSymlinks(common)
	return top && err == nil && real == r.common, nil
}

// countUnmerged counts the commits of head that are on no other branch than this one.
func (r *Repo) countUnmerged(ctx context.Context, head, branch string) (int, error) {
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
