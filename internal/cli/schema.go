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
			if c.NArg() > 0 {
				args, err := Arguments(c, 1, "")
				if err == nil && args[0] != "config" {
					err = UnknownWord("schema", args[0], []string{"config"})
				}
				if err != nil {
					return err
				}
				text = config.Schema(env.AgentNames())
			}
			_, err := io.WriteString(env.Stdout, text)
			return err
		},
	}
}
