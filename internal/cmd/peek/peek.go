// Package peek is the command peek.
package peek

import (
	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
	"agentctl/internal/cmdutil/messages"
)

// New makes the command peek.
func New(f cmdutil.Factory) *cli.Command {
	c := messages.NewCommand(f, &messages.Options{Verb: "peek", Limit: 20}, "show the last messages of a session")
	c.CustomHelpTemplate = cmdutil.HelpTemplate("agentctl peek 88d1d394", "agentctl peek -n 1 88d1d394 --json")
	return c
}
