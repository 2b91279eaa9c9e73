// Package skill is the command skill.
package skill

import (
	_ "embed" // for go:embed
	"io"

	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
)

//go:embed SKILL.md
var text string

func New(f cmdutil.Factory) *cli.Command {
	return &cli.Command{
		Usage:              "print a SKILL.md by which an agent learns to use agentctl",
		UsageText:          "agentctl skill",
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl skill", "agentctl skill > ~/.agents/skills/agentctl/SKILL.md"),
		Action: func(*cli.Context) error {
			_, err := io.WriteString(f.Stdout, text)
			return err
		},
	}
}
