// Package guard is the command guard.
package guard

import (
	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
)

func New(f cmdutil.Factory) *cli.Command {
	o := &cmdutil.GuardOptions{}
	return &cli.Command{
		Usage:     "exit 5 if another session is running here, or the directory is locked",
		UsageText: "agentctl guard [FLAGS] [DIR]",
		Description: "For git hooks and scripts. guard checks the git worktree that contains DIR (default: the current directory).\n" +
			"It ignores the session that calls it, and the lock of an agentctl lock DIR -- COMMAND that it runs under.",
		ArgsUsage: "[DIR]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "strict", Usage: "an idle session blocks too", Destination: &o.Strict},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "do not warn of idle sessions", Destination: &o.Quiet},
			cmdutil.JSONFlag(&o.JSON),
		},
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl guard", "agentctl guard --strict ~/src/api"),
		Action: func(c *cli.Context) error {
			dir, err := cmdutil.OptionalDir(c)
			if err != nil {
				return err
			}
			over := ""
			if f.Getenv(cmdutil.CommitVar) != "" {
				over = cmdutil.CommitOverride
			}
			return f.Guard(c.Context, dir, o, over)
		},
	}
}
