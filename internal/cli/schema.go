package cli

import (
	"io"

	"github.com/urfave/cli/v2"

	"agentctl/internal/config"
	"agentctl/internal/object"
)

func schemaCommand(env Env) *cli.Command {
	return &cli.Command{
		Usage:              "print the JSON Schema of what --json prints, or that of the configuration file",
		UsageText:          "agentctl schema [config]",
		ArgsUsage:          "SCHEMA",
		CustomHelpTemplate: HelpTemplate("agentctl schema > agentctl.schema.json", "agentctl schema config > config.schema.json"),
		Action: func(c *cli.Context) error {
			text := object.Schema()
			args, err := Arguments(c, 0, 1, "")
			switch {
			case err != nil:
				return err
			case len(args) > 0 && args[0] != "config":
				return UnknownWord("schema", args[0], []string{"config"})
			case len(args) > 0:
				text = config.Schema(env.AgentNames())
			}
			_, err = io.WriteString(env.Stdout, text)
			return err
		},
	}
}
