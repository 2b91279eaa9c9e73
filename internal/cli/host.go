// Package host is the command host.
package cli

import (
	"github.com/urfave/cli/v2"
)

func hostCommand(f Factory) *cli.Command {
	return &cli.Command{
		Usage:              "show what is on other machines, and copy agentctl there",
		UsageText:          "agentctl host check|install [FLAGS] HOST…",
		CustomHelpTemplate: GroupHelpTemplate("agentctl host check devbox", "agentctl host install devbox"),
		Subcommands:        []*cli.Command{newCheck(f), newInstall(f)},
	}
}
