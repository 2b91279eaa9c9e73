package cmdutil

import (
	"context"
	"errors"
	"fmt"
	"time"

	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/worktree"
)

// gitTimeout bounds how long git may take to report uncommitted changes.
const gitTimeout = 2 * time.Second

// gitChanges asks git for the uncommitted changes in a directory, with two processes; nil outside a repository.
func (f Factory) gitChanges(ctx context.Context, dir string) (*output.Changes, error) {
	limited, cancel := context.WithTimeout(ctx, gitTimeout)
	defer cancel()
	found, err := worktree.ReadChanges(limited, launch.Environment{Environ: f.Environ}, dir)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("git takes longer than %v", gitTimeout)
	case err != nil || found == nil:
		return nil, err
	}
	c := &output.Changes{Changed: found.Changed, Untracked: found.Untracked, Upstream: found.Upstream}
	if found.AheadBehindKnown {
		c.Ahead, c.Behind = &found.Ahead, &found.Behind
	}
	return c, nil
}
