package cli

import (
	_ "embed" // for go:embed
	"io"

	"github.com/urfave/cli/v2"
)

//go:embed SKILL.md
var skillText string

func skillCommand(env Env) *cli.Command {
	return &cli.Command{
		Usage:              "print a SKILL.md by which an agent learns to use agentctl",
		UsageText:          "agentctl skill",
		CustomHelpTemplate: HelpTemplate("agentctl skill", "agentctl skill > ~/.agents/skills/agentctl/SKILL.md"),
		Action: func(*cli.Context) error {
			_, err := io.WriteString(env.Stdout, skillText)
			return err
		},
	}
}
