// Package logs is the command logs.
package logs

import (
	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
	"agentctl/internal/cmdutil/messages"
)

// New makes the command logs.
func New(f cmdutil.Factory) *cli.Command {
	o := &messages.Options{Verb: "logs", Limit: 50}
	c := messages.NewCommand(f, o, "show the messages of a session; with -f, follow it until it stops")
	c.Flags = append(c.Flags, &cli.BoolFlag{
		Name: "follow", Aliases: []string{"f"}, Usage: "follow the session until it stops; exit with the last turn's result", Destination: &o.Follow,
	})
	c.CustomHelpTemplate = cmdutil.HelpTemplate("agentctl logs -f 88d1d394", "agentctl logs -n 0 --tools 88d1d394")
	return c
}
