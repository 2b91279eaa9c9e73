package worktree

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
	"agentctl/launch/worktree"
)

// removal is a worktree to remove, or, without a path, a branch that no worktree has checked out.
type removal struct {
	worktree.Worktree
	repo *worktree.Repo
	// keepBranch: the worktree was selected by its group, but its branch's name is not the group's.
	keepBranch bool
}

// findRemovals finds the worktrees that the arguments and the groups name.
func findRemovals(ctx context.Context, f cmdutil.Factory, args []string, o *cleanOptions) ([]removal, error) {
	var out []removal
	add := func(c removal) {
		if !slices.ContainsFunc(out, func(d removal) bool { return d.Path == c.Path && d.Branch == c.Branch }) {
			out = append(out, c)
		}
	}
	for _, arg := range args {
		c, err := findRemoval(ctx, f, arg, o)
		if err != nil {
			return nil, err
		}
		add(c)
	}
	for _, group := range o.groups.Value() {
		of, err := findGroup(ctx, f, group, o)
		if err != nil {
			return nil, err
		}
		for _, c := range of {
			add(c)
		}
	}
	return out, nil
}

// openRepository opens a repository and lists its worktrees.
func openRepository(ctx context.Context, f cmdutil.Factory, dir string) (*worktree.Repo, []worktree.Worktree, error) {
	repo, err := f.OpenRepository(ctx, "worktree clean", dir)
	if err != nil {
		return nil, nil, err
	}
	list, err := repo.List(ctx)
	return repo, list, err
}

// findRemoval finds a worktree by its path or branch. A path names its own repository, unless --repo does.
func findRemoval(ctx context.Context, f cmdutil.Factory, arg string, o *cleanOptions) (removal, error) {
	if o.repo == "" && cmdutil.CheckDirectory(arg) == nil {
		repo, list, err := openRepository(ctx, f, arg)
		if w, ok := worktree.FindByPath(list, arg); err == nil && ok {
			return unambiguous(arg, list, removal{Worktree: w, repo: repo})
		}
	}
	repo, list, err := openRepository(ctx, f, cmp.Or(o.repo, "."))
	if err != nil {
		return removal{}, err
	}
	if w, ok := worktree.FindByPath(list, arg); ok {
		return unambiguous(arg, list, removal{Worktree: w, repo: repo})
	}
	branch := strings.TrimPrefix(arg, "refs/heads/")
	if w, ok := worktree.FindByBranch(list, branch); ok {
		return removal{Worktree: w, repo: repo}, nil
	}
	if o.branch {
		// Its worktree may be gone already: then the branch is all there is.
		err := repo.DeleteBranch(ctx, branch, worktree.RemoveOptions{DryRun: true, Force: true})
		if err == nil || !errors.Is(err, worktree.ErrNoCommit) {
			return removal{Worktree: worktree.Worktree{Branch: branch}, repo: repo}, err
		}
	}
	return removal{}, fmt.Errorf("%w at %s, or on a branch of that name", worktree.ErrNoWorktree, arg)
}

// unambiguous refuses a word that is the path of one worktree and the branch of another.
func unambiguous(arg string, list []worktree.Worktree, c removal) (removal, error) {
	if on, ok := worktree.FindByBranch(list, arg); ok && on.Path != c.Path {
		return c, cmdutil.UsageError("worktree clean", "%q is the path of one worktree and the branch of another; use ./%s or refs/heads/%s", arg, arg, arg)
	}
	return c, nil
}

// findGroup finds the worktrees of a launch group; with --delete-branch also its branches that no worktree has checked
// out.
func findGroup(ctx context.Context, f cmdutil.Factory, group string, o *cleanOptions) ([]removal, error) {
	repo, list, err := openRepository(ctx, f, cmp.Or(o.repo, "."))
	if err != nil {
		return nil, err
	}
	var out []removal
	for _, w := range list {
		if discover.GroupOfWorktree(w.Branch, w.Path) == group {
			own := discover.GroupOfBranch(w.Branch) == ""
			out = append(out, removal{Worktree: w, repo: repo, keepBranch: own})
		}
	}
	if o.branch {
		branches, err := repo.Branches(ctx, group)
		if err != nil {
			return nil, err
		}
		for _, b := range branches {
			if _, ok := worktree.FindByBranch(list, b); !ok {
				out = append(out, removal{Worktree: worktree.Worktree{Branch: b}, repo: repo})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w of the group %s", worktree.ErrNoWorktree, group)
	}
	return out, nil
}

func cleanedObject(c removal, o *cleanOptions, err error) output.CleanResult {
	out := output.CleanResult{Path: c.Path, Branch: c.Branch, Result: "removed", Reasons: []output.CleanReason{}}
	var refused *worktree.RefusedError
	switch {
	case errors.As(err, &refused):
		out.Result = "refused"
		for _, r := range refused.Reasons {
			out.Reasons = append(out.Reasons, output.CleanReason{Why: string(r.Code), Message: r.Text})
		}
	case err != nil:
		out.Result, out.Message = "failed", err.Error()
	case o.dryRun:
		out.Result = "planned"
	default:
		out.BranchDeleted = o.branch && c.Branch != ""
	}
	return out
}

// printCleaned prints what was removed, or would be. Failures are printed in JSON only; as text they are the command's
// error.
func printCleaned(f cmdutil.Factory, results []output.CleanResult, o *cleanOptions) error {
	if o.JSON {
		return output.JSONArray(f.Stdout, results)
	}
	removed, deleted := "removed ", "deleted branch "
	if o.dryRun {
		removed, deleted = "would remove ", "would delete branch "
	}
	var text strings.Builder
	for _, r := range results {
		if r.Result != "removed" && r.Result != "planned" {
			continue
		}
		if r.Path != "" {
			fmt.Fprintln(&text, output.Sanitize(removed+r.Path))
		}
		if o.branch && r.Branch != "" {
			fmt.Fprintln(&text, output.Sanitize(deleted+r.Branch))
		}
	}
	_, err := io.WriteString(f.Stdout, text.String())
	return err
}
