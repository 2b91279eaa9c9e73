// Package host is the command host.
package host

import (
	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
)

func New(f cmdutil.Factory) *cli.Command {
	return &cli.Command{
		Usage:              "show what is on other machines, and copy agentctl there",
		UsageText:          "agentctl host check|install [FLAGS] HOST…",
		CustomHelpTemplate: cmdutil.GroupHelpTemplate("agentctl host check devbox", "agentctl host install devbox"),
		Subcommands:        []*cli.Command{newCheck(f), newInstall(f)},
	}
}
