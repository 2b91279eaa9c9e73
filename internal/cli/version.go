// Package version is the command version.
package cli

import (
	"fmt"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"agentctl/internal/render"
)

func versionCommand(f Factory) *cli.Command {
	var asJSON bool
	return &cli.Command{
		Usage:              "print the version",
		UsageText:          "agentctl version [FLAGS]",
		Flags:              []cli.Flag{JSONFlag(&asJSON)},
		CustomHelpTemplate: HelpTemplate("agentctl version", "agentctl version --json"),
		Action: func(c *cli.Context) error {
			info, _ := debug.ReadBuildInfo()
			b := BuildInfo(f.Version, info)
			if asJSON {
				return render.JSON(f.Stdout, b)
			}
			_, err := fmt.Fprintf(f.Stdout, "agentctl %s (%s%s %s/%s)\n", b.Version, b.Commit(), b.Go, b.OS, b.Arch)
			return err
		},
	}
}
