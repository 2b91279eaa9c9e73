// Package host is the command host, and what answers it on other machines.
package host

import (
	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
)

// New makes the command host.
func New(f cmdutil.Factory) *cli.Command {
	return &cli.Command{
		Usage:              "show what is on other machines, and copy agentctl there",
		UsageText:          "agentctl host check|install [FLAGS] HOST…",
		CustomHelpTemplate: cmdutil.GroupHelpTemplate("agentctl host check devbox", "agentctl host install devbox"),
		Subcommands:        []*cli.Command{newCheck(f), newInstall(f)},
	}
}

// RemoteName is the command that the agentctl of another machine runs here. People do not call it.
const RemoteName = "__remote"

// NewRemote makes the command that answers the agentctl of another machine: on stdin and stdout, or, with a request as its argument, in this terminal.
func NewRemote(f cmdutil.Factory) *cli.Command {
	return &cli.Command{
		Hidden: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			if word := c.Args().First(); word != "" {
				return f.ServeInTerminal(c.Context, word)
			}
			return f.Serve(c.Context)
		},
	}
}
