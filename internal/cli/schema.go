package cli

import (
	"io"

	"github.com/urfave/cli/v2"

	"agentctl/internal/output"
)

func newSchema(env Env) *cli.Command {
	return &cli.Command{
		Usage:     "print the JSON Schema of what --json prints",
		UsageText: "agentctl schema",
		Action: func(c *cli.Context) error {
			_, err := io.WriteString(env.Stdout, output.Schema())
			return err
		},
	}
}
