package cli

import (
	"io"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/internal/config"
	"agentctl/internal/object"
)

func schemaCommand(f Factory) *cli.Command {
	return &cli.Command{
		Usage:              "print the JSON Schema of what --json prints, or that of the configuration file",
		UsageText:          "agentctl schema [config]",
		ArgsUsage:          "SCHEMA",
		CustomHelpTemplate: HelpTemplate("agentctl schema > agentctl.schema.json", "agentctl schema config > config.schema.json"),
		Action: func(c *cli.Context) error {
			text := object.Schema()
			if c.NArg() > 0 {
				args, err := Arguments(c, 1, "")
				switch {
				case err != nil:
					return err
				case !slices.Contains(Schemas(), args[0]):
					return UnknownWord("schema", args[0], Schemas())
				}
				text = config.Schema(f.AgentNames())
			}
			_, err := io.WriteString(f.Stdout, text)
			return err
		},
	}
}
