// Package worktree is the command worktree.
package worktree

import (
	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
)

func New(f cmdutil.Factory) *cli.Command {
	return &cli.Command{
		Usage:              "list git worktrees with the sessions in them, and remove unused ones",
		UsageText:          "agentctl worktree list|clean [FLAGS] [ARGUMENTS]",
		CustomHelpTemplate: cmdutil.GroupHelpTemplate("agentctl worktree list", "agentctl worktree clean --group parser --dry-run"),
		Subcommands:        []*cli.Command{newList(f), newClean(f)},
	}
}
