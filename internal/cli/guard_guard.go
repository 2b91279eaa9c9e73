// Package guard is the command guard.
package cli

import (
	"github.com/urfave/cli/v2"
)

func guardCommand(f Factory) *cli.Command {
	o := &GuardOptions{}
	return &cli.Command{
		Usage:     "exit 5 if another session is running here, or the directory is locked",
		UsageText: "agentctl guard [FLAGS] [DIR]",
		Description: "For git hooks and scripts. guard checks the git worktree that contains DIR (default: the current directory).\n" +
			"It ignores the session that calls it, and the lock of an agentctl lock DIR -- COMMAND that it runs under.",
		ArgsUsage: "[DIR]",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "strict", Usage: "an idle session blocks too", Destination: &o.Strict},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "do not warn of idle sessions", Destination: &o.Quiet},
			JSONFlag(&o.JSON),
		},
		CustomHelpTemplate: HelpTemplate("agentctl guard", "agentctl guard --strict ~/src/api"),
		Action: func(c *cli.Context) error {
			dir, err := OptionalDir(c)
			if err != nil {
				return err
			}
			over := ""
			if f.Getenv(CommitVar) != "" {
				over = CommitOverride
			}
			return f.Guard(c.Context, dir, o, over)
		},
	}
}
