package lock

import (
	"context"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
	"agentctl/lock"
)

func lockRepoFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "repo", Usage: "all current worktrees of the git repository that contains `DIR`", Destination: to}
}

// findWorkspaces returns the workspaces to lock or unlock: that of dir, or all current worktrees of a repository. They are
// sorted, so that two commands that hold them all cannot wait for each other.
func findWorkspaces(ctx context.Context, f cmdutil.Factory, verb, dir, repo string) ([]*lock.Workspace, error) {
	if repo == "" {
		workspace, err := lock.WorkspaceOf(dir)
		if err != nil {
			return nil, cmdutil.UsageError(verb, "%v", err)
		}
		return []*lock.Workspace{workspace}, nil
	}
	r, err := f.OpenRepository(ctx, verb, repo)
	if err != nil {
		return nil, err
	}
	list, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	var workspaces []*lock.Workspace
	for _, w := range list {
		if w.Bare || w.Prunable {
			continue
		}
		workspace, err := lock.WorkspaceOf(w.Path)
		if err != nil {
			return nil, err
		}
		workspaces = append(workspaces, workspace)
	}
	if len(workspaces) == 0 {
		return nil, cmdutil.UsageError(verb, "--repo: %s has no worktree", repo)
	}
	slices.SortFunc(workspaces, func(a, b *lock.Workspace) int { return strings.Compare(a.Top, b.Top) })
	return workspaces, nil
}
