package worktree

import (
	"context"
	"strings"

	"agentctl/discover"
)

// List returns all worktrees of the repository in git's order, the main one first.
func (r *Repo) List(ctx context.Context) ([]Worktree, error) {
	out, err := r.git(ctx, r.common, "worktree", "list", "--porcelain", "-z")
	if err != nil {
		return nil, err
	}
	list := parseList(out)
	if len(list) > 0 {
		err = r.fixSubmodulePath(ctx, &list[0])
	}
	return list, err
}

// textLimit bounds the path of a worktree and each reason, in characters. Git prints its files at any size; no system has
// longer paths.
const textLimit = discover.PathLimit

// parseList parses records of NUL-terminated lines. An empty line ends each record.
func parseList(out string) []Worktree {
	var list []Worktree
	begun := false
	for line := range strings.SplitSeq(out, "\x00") {
		if line == "" {
			begun = false
			continue
		}
		key, value, _ := strings.Cut(line, " ")
		if !begun {
			list = append(list, Worktree{Main: len(list) == 0})
			begun = true
		}
		list[len(list)-1].set(key, value)
	}
	return list
}

func (w *Worktree) set(key, value string) {
	switch key {
	case "worktree":
		w.Path = discover.Truncate(value, textLimit)
	case "HEAD":
		if strings.Trim(value, "0") != "" {
			w.Head = value
		}
	case "branch":
		w.Branch = strings.TrimPrefix(value, "refs/heads/")
	case "bare":
		w.Bare = true
	case "detached":
		w.Detached = true
	case "locked":
		w.Locked, w.LockReason = true, discover.Truncate(value, textLimit)
	case "prunable":
		w.Prunable, w.PruneReason = true, discover.Truncate(value, textLimit)
	}
}

// fixSubmodulePath sets the path of a submodule's main worktree. Git (2.39) lists the submodule's git directory instead.
func (r *Repo) fixSubmodulePath(ctx context.Context, main *Worktree) error {
	if main.Bare || main.Path != r.common {
		return nil
	}
	top, err := r.git(ctx, r.common, "rev-parse", "--show-toplevel")
	if err == nil {
		main.Path = strings.TrimSuffix(top, "\n")
	}
	return err
}
