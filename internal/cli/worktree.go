package cli

import (
	"context"
	"errors"
	"os"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/worktree"
	"agentctl/lock"
)

func newWorktree(env Env) *cli.Command {
	return &cli.Command{
		Usage:       "list git worktrees with the sessions in them, and remove unused ones",
		UsageText:   "agentctl worktree list|clean [FLAGS] [ARGUMENTS]",
		Subcommands: []*cli.Command{newWorktreeList(env), newWorktreeClean(env)},
	}
}

func newWorktreeList(env Env) *cli.Command {
	o := &common{}
	return &cli.Command{
		Name:      "list",
		Aliases:   []string{"ls"},
		Usage:     "list the worktrees of a repository, with the live sessions in each",
		UsageText: "agentctl worktree list [FLAGS] [REPO]",
		ArgsUsage: "[REPO]",
		Flags:     []cli.Flag{formatFlag(&o.format, "{{.branch}} {{.path}}"), jsonFlag(&o.json), noColorFlag(&o.noColor)},
		Action: func(c *cli.Context) error {
			dir := "."
			if c.Args().Present() {
				args, err := arguments(c, 1, "")
				if err != nil {
					return err
				}
				dir = args[0]
			}
			return env.worktreeList(c.Context, dir, o)
		},
	}
}

func (env Env) worktreeList(ctx context.Context, dir string, o *common) error {
	c, err := env.call("worktree list", o, output.Worktree{})
	if err != nil {
		return err
	}
	working, done := env.query(ctx, "reading the repository")
	defer done()
	repo, err := env.repository(working, "worktree list", dir)
	if err != nil {
		return err
	}
	list, err := repo.List(working)
	if err != nil {
		return err
	}
	r, err := c.world.List(working, discover.SessionFilter{Subagents: true})
	if err != nil {
		return err
	}
	done()
	var out []output.Worktree
	for _, w := range list {
		out = append(out, worktreeObject(w, r.Sessions))
	}
	if err := printRows(c, out, o.json, output.WorktreeTable); err != nil {
		return err
	}
	return env.warn(r.Warnings)
}

// repository is the one that dir lies in.
func (env Env) repository(ctx context.Context, verb, dir string) (*worktree.Repo, error) {
	if err := isDirectory(dir); err != nil {
		return nil, badUsage(verb, "%v", err)
	}
	repo, err := worktree.Open(ctx, launch.Environment{Environ: env.Environ}, dir)
	if errors.Is(err, worktree.ErrNoRepository) {
		return nil, badUsage(verb, "%v", err)
	}
	return repo, err
}

func worktreeObject(w worktree.Worktree, sessions []discover.Session) output.Worktree {
	out := output.Worktree{
		Path: w.Path, Branch: w.Branch, Head: w.Head, Main: w.Main, Bare: w.Bare, Detached: w.Detached, HalfMade: w.Incomplete(),
		Locked: w.Locked, LockReason: w.LockReason, Prunable: w.Prunable, PruneReason: w.PruneReason,
		Group: discover.GroupOfWorktree(w.Branch, w.Path), Sessions: []output.Session{},
	}
	place, err := lock.WorkspaceOf(w.Path)
	if err != nil {
		return out // it is gone, and nobody is there
	}
	for _, s := range sessions {
		if place.Contains(lock.SessionDir(s)) {
			out.Sessions = append(out.Sessions, output.NewSession(s))
		}
	}
	return out
}

// isThere reports whether there is anything at path.
func isThere(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
