// Package peek is the command peek.
package peek

import (
	"github.com/urfave/cli/v2"

	"agentctl/internal/cmdutil"
	"agentctl/internal/cmdutil/messages"
)

// New makes the command peek.
func New(f cmdutil.Factory) *cli.Command {
	return messages.NewCommand(f, &messages.Options{Verb: "peek", Limit: 20}, "show the last messages of a session")
}
