package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/launch/worktree"
)

// condemned is a worktree to be removed, or, without a path, a branch that no worktree is on.
type condemned struct {
	worktree.Worktree
	repo *worktree.Repo
	// keepBranch: it was chosen as a member of a group, and its branch has a name of its own.
	keepBranch bool
}

// condemned finds the worktrees that the arguments and the groups name.
func (env Env) condemned(ctx context.Context, args []string, o *cleanOptions) ([]condemned, error) {
	var out []condemned
	add := func(c condemned) {
		if !slices.ContainsFunc(out, func(d condemned) bool { return d.Path == c.Path && d.Branch == c.Branch }) {
			out = append(out, c)
		}
	}
	for _, arg := range args {
		c, err := env.condemnedBy(ctx, arg, o)
		if err != nil {
			return nil, err
		}
		add(c)
	}
	for _, group := range o.groups.Value() {
		of, err := env.condemnedOf(ctx, group, o)
		if err != nil {
			return nil, err
		}
		for _, c := range of {
			add(c)
		}
	}
	return out, nil
}

// tree is a repository with its worktrees, after what git left half made is away.
func (env Env) tree(ctx context.Context, dir string, o *cleanOptions) (*worktree.Repo, []worktree.Worktree, error) {
	repo, err := env.repository(ctx, "worktree clean", dir)
	if err == nil && !o.dryRun {
		err = repo.Prune(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	list, err := repo.List(ctx)
	return repo, list, err
}

// condemnedBy finds a worktree by its path or branch. A path names its own repository, unless --repo does.
func (env Env) condemnedBy(ctx context.Context, arg string, o *cleanOptions) (condemned, error) {
	if o.repo == "" && isDirectory(arg) == nil {
		repo, list, err := env.tree(ctx, arg, o)
		if w, ok := worktree.FindByPath(list, arg); err == nil && ok {
			return unambiguous(arg, list, condemned{Worktree: w, repo: repo})
		}
	}
	repo, list, err := env.tree(ctx, cmp.Or(o.repo, "."), o)
	if err != nil {
		return condemned{}, err
	}
	if w, ok := worktree.FindByPath(list, arg); ok {
		return unambiguous(arg, list, condemned{Worktree: w, repo: repo})
	}
	branch := strings.TrimPrefix(arg, "refs/heads/")
	if w, ok := worktree.FindByBranch(list, branch); ok {
		return condemned{Worktree: w, repo: repo}, nil
	}
	if o.branch {
		// Its worktree may be gone already: then the branch is all there is.
		err := repo.DeleteBranch(ctx, branch, worktree.RemoveOptions{DryRun: true, Force: true})
		if err == nil || !errors.Is(err, worktree.ErrNoCommit) {
			return condemned{Worktree: worktree.Worktree{Branch: branch}, repo: repo}, err
		}
	}
	return condemned{}, fmt.Errorf("%w at %s, or on a branch of that name", worktree.ErrNoWorktree, arg)
}

// unambiguous refuses a word that is one worktree's path and another one's branch.
func unambiguous(arg string, list []worktree.Worktree, c condemned) (condemned, error) {
	if on, ok := worktree.FindByBranch(list, arg); ok && on.Path != c.Path {
		return c, badUsage("worktree clean", "%q is the path of one worktree and the branch of another; use ./%s or refs/heads/%s", arg, arg, arg)
	}
	return c, nil
}

// condemnedOf finds the worktrees of a launch group, and if branches are to be deleted those that no worktree is on.
func (env Env) condemnedOf(ctx context.Context, group string, o *cleanOptions) ([]condemned, error) {
	repo, list, err := env.tree(ctx, cmp.Or(o.repo, "."), o)
	if err != nil {
		return nil, err
	}
	var out []condemned
	for _, w := range list {
		if discover.GroupOfWorktree(w.Branch, w.Path) == group {
			own := discover.GroupOfBranch(w.Branch) == ""
			out = append(out, condemned{Worktree: w, repo: repo, keepBranch: own})
		}
	}
	if o.branch {
		branches, err := repo.Branches(ctx, group)
		if err != nil {
			return nil, err
		}
		for _, b := range branches {
			if _, ok := worktree.FindByBranch(list, b); !ok {
				out = append(out, condemned{Worktree: worktree.Worktree{Branch: b}, repo: repo})
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%w of the group %s", worktree.ErrNoWorktree, group)
	}
	return out, nil
}

func cleanedObject(c condemned, o *cleanOptions, err error) output.CleanResult {
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

// printCleaned prints what was done, or would be; what was not is an error's to say, but in JSON.
func (env Env) printCleaned(results []output.CleanResult, o *cleanOptions) error {
	if o.json {
		return output.JSONArray(env.Stdout, results)
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
	_, err := io.WriteString(env.Stdout, text.String())
	return err
}

// worktreeOffers are the linked worktrees of the repository that we are in, by branch, else by path.
func (env Env) worktreeOffers(ctx context.Context) []offer {
	repo, err := env.repository(ctx, "worktree clean", ".")
	if err != nil {
		return nil
	}
	list, err := repo.List(ctx)
	if err != nil {
		return nil
	}
	var out []offer
	for _, w := range list {
		switch {
		case w.Main:
		case w.Branch == "":
			out = append(out, offer{w.Path, "detached"})
		case strings.HasPrefix(w.Branch, "-"): // it would be read as a flag
			out = append(out, offer{w.Path, w.Branch})
		default:
			out = append(out, offer{w.Branch, w.Path})
		}
	}
	return out
}
