// Package help is the command help, which shows the manual.
package help

import (
	"strings"

	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
	"agentctl/internal/manual"
)

// maxWidth is the longest line, in columns: longer ones are hard to read.
const maxWidth = 100

// New makes the command help.
func New(f cmdutil.Factory, verbs func() []cmdutil.Verb) *cli.Command {
	return &cli.Command{
		Usage:     "show the manual of a command",
		UsageText: "agentctl help [COMMAND]",
		ArgsUsage: "COMMAND",
		Description: "help shows the same text as man agentctl-COMMAND. COMMAND --help is shorter. Without COMMAND, help lists\n" +
			"the commands; help agentctl shows what they have in common.",
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl help launch", "agentctl help hooks install", "agentctl help agentctl"),
		Action: func(c *cli.Context) error {
			pages, err := find(cmdutil.NewApp(f, verbs()), c.Args().Slice())
			if err != nil {
				return err
			}
			width := maxWidth
			if f.Width > 0 {
				width = min(width, f.Width)
			}
			var texts []string
			for _, p := range pages {
				texts = append(texts, p.Text(width))
			}
			return f.Page(c.Context, []byte(strings.Join(texts, "\n")))
		},
	}
}

// find returns the pages that the words name: that of a command, or those of the commands below one.
func find(app *cli.App, words []string) ([]manual.Page, error) {
	all := Pages(app)
	if len(words) == 1 && words[0] == cmdutil.Program {
		return all[:1], nil
	}
	command, err := cmdutil.FindCommand(app, words)
	if err != nil {
		return nil, err
	}
	var pages []manual.Page
	for _, c := range cmdutil.Leaves([]*cli.Command{command}) {
		if p, ok := manual.Find(all, cmdutil.CommandName(c)); ok {
			pages = append(pages, p)
		}
	}
	return pages, nil
}

// Pages returns the manual of the commands of an application.
func Pages(app *cli.App) []manual.Page {
	var commands []manual.Command
	for _, c := range cmdutil.Leaves(app.Commands) {
		commands = append(commands, manual.Command{Name: cmdutil.CommandName(c), Usage: c.Usage})
	}
	return manual.Pages(app.Usage, commands)
}
