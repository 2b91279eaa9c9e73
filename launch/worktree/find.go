package worktree

import "path/filepath"

// FindByPath returns the worktree whose top directory is at path, by whatever name.
func FindByPath(list []Worktree, path string) (Worktree, bool) {
	name, err := resolveDir(path)
	if err != nil {
		return Worktree{}, false
	}
	target, err := filepath.EvalSymlinks(name)
	for _, w := range list {
		if w.Path == name || err == nil && w.Path == target {
			return w, true
		}
	}
	return Worktree{}, false
}

// FindByBranch returns the worktree that a branch is checked out in.
func FindByBranch(list []Worktree, branch string) (Worktree, bool) {
	for _, w := range list {
		if w.Branch == branch && branch != "" {
			return w, true
		}
	}
	return Worktree{}, false
}
