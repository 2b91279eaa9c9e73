// Package schema is the command schema.
package schema

import (
	"io"

	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// New makes the command schema.
func New(f cmdutil.Factory) *cli.Command {
	return &cli.Command{
		Usage:              "print the JSON Schema of what --json prints",
		UsageText:          "agentctl schema",
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl schema", "agentctl schema > agentctl.schema.json"),
		Action: func(c *cli.Context) error {
			_, err := io.WriteString(f.Stdout, output.Schema())
			return err
		},
	}
}
