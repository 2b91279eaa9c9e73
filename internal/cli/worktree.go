package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch/worktree"
	"agentctl/lock"
)

func worktreeCommand(f Env) *cli.Command {
	return &cli.Command{
		Usage:              "list git worktrees with the sessions in them, and remove unused ones",
		UsageText:          "agentctl worktree list|clean [FLAGS] [ARGUMENTS]",
		CustomHelpTemplate: GroupHelpTemplate("agentctl worktree list", "agentctl worktree clean --group parser --dry-run"),
		Subcommands:        []*cli.Command{newWorktreeList(f), newWorktreeClean(f)},
	}
}

func newWorktreeList(f Env) *cli.Command {
	o := &CommonFlags{}
	return &cli.Command{
		Name:               "list",
		Aliases:            []string{"ls"},
		Usage:              "list the worktrees of a repository, with the live sessions in each",
		UsageText:          "agentctl worktree list [FLAGS] [REPO]",
		ArgsUsage:          "[REPO]",
		Flags:              []cli.Flag{FormatFlag(&o.Format, "{{.branch}} {{.path}}"), JSONFlag(&o.JSON), NoColorFlag(&o.NoColor)},
		CustomHelpTemplate: HelpTemplate("agentctl worktree list", "agentctl worktree list ~/src/api --json"),
		Action: func(c *cli.Context) error {
			dir, err := OptionalDir(c)
			if err != nil {
				return err
			}
			return listWorktrees(c.Context, f, dir, o)
		},
	}
}

func listWorktrees(ctx context.Context, f Env, dir string, o *CommonFlags) error {
	c, err := f.NewCall("worktree list", o, object.Worktree{})
	if err != nil {
		return err
	}
	working, done := f.StartWork(ctx, "reading the repository")
	defer done()
	repo, err := f.OpenRepository(working, "worktree list", dir)
	if err != nil {
		return err
	}
	list, err := repo.List(working)
	if err != nil {
		return err
	}
	r, err := c.Scanner.List(working, discover.SessionFilter{Subagents: true})
	if err != nil {
		return err
	}
	done()
	var out []object.Worktree
	for _, w := range list {
		out = append(out, worktreeObject(w, r.Sessions))
	}
	if err := PrintRows(c, out, render.WorktreeTable); err != nil {
		return err
	}
	return f.ReportWarnings(r.Warnings)
}

func worktreeObject(w worktree.Worktree, sessions []discover.Session) object.Worktree {
	out := object.Worktree{
		Path: w.Path, Branch: w.Branch, Head: w.Head, Main: w.Main, Bare: w.Bare, Detached: w.Detached, HalfMade: w.Incomplete(),
		Locked: w.Locked, LockReason: w.LockReason, Prunable: w.Prunable, PruneReason: w.PruneReason,
		Group: discover.GroupOfWorktree(w.Branch, w.Path), Sessions: []object.Session{},
	}
	workspace, err := lock.WorkspaceOf(w.Path)
	if err != nil {
		return out // it is gone, with its sessions
	}
	for _, s := range sessions {
		if workspace.Contains(lock.SessionDir(s)) {
			out.Sessions = append(out.Sessions, object.NewSession(s))
		}
	}
	return out
}
