// Package host is the command host, and what answers it on other machines.
package host

import (
	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
	"agentctl/internal/host"
)

func New(f cmdutil.Factory) *cli.Command {
	return &cli.Command{
		Usage:              "show what is on other machines, and copy agentctl there",
		UsageText:          "agentctl host check|install [FLAGS] HOST…",
		CustomHelpTemplate: cmdutil.GroupHelpTemplate("agentctl host check devbox", "agentctl host install devbox"),
		Subcommands:        []*cli.Command{newCheck(f), newInstall(f)},
	}
}

// RemoteName is the name of the command that NewRemote makes.
const RemoteName = host.RemoteVerb

// NewRemote makes the command that answers the agentctl of another machine: on stdin and stdout, or in this terminal.
func NewRemote(f cmdutil.Factory) *cli.Command {
	return &cli.Command{
		Hidden: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			if c.Args().First() == host.InTerminal {
				return f.ServeInTerminal(c.Context, c.Args().Get(1))
			}
			return f.Serve(c.Context, c.Args().First())
		},
	}
}
