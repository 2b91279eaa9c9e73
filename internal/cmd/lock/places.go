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

// lockPlaces returns the workspaces to lock or unlock: that of dir, or all current worktrees of a repository. They are
// sorted, so that two commands that hold them all cannot wait for each other.
func lockPlaces(ctx context.Context, f cmdutil.Factory, verb, dir, repo string) ([]*lock.Workspace, error) {
	if repo == "" {
		place, err := lock.WorkspaceOf(dir)
		if err != nil {
			return nil, cmdutil.UsageError(verb, "%v", err)
		}
		return []*lock.Workspace{place}, nil
	}
	r, err := f.OpenRepository(ctx, verb, repo)
	if err != nil {
		return nil, err
	}
	list, err := r.List(ctx)
	if err != nil {
		return nil, err
	}
	var places []*lock.Workspace
	for _, w := range list {
		if w.Bare || w.Prunable {
			continue
		}
		place, err := lock.WorkspaceOf(w.Path)
		if err != nil {
			return nil, err
		}
		places = append(places, place)
	}
	if len(places) == 0 {
		return nil, cmdutil.UsageError(verb, "--repo: %s has no worktree", repo)
	}
	slices.SortFunc(places, func(a, b *lock.Workspace) int { return strings.Compare(a.Top, b.Top) })
	return places, nil
}
