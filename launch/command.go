package launch

import (
	"context"
	"fmt"
	"strings"

	"agentctl/discover"
)

// Command is a command of an agent.
type Command struct {
	// Args is the command line; Args[0] is the absolute path of the program. Env are variables that it needs besides.
	Args, Env []string
	// Dir is the directory that it runs in.
	Dir string
	// Help is the command line that prints the command's help. Versions that have the command print HelpHas.
	Help    []string
	HelpHas string
}

// Supported asks the installed version of the agent whether it has the command. Error: [*UnsupportedError].
func (c Command) Supported(ctx context.Context, agent discover.Agent, host Environment) error {
	if len(c.Help) == 0 {
		return nil
	}
	help, err := host.Output(ctx, c.Dir, c.Env, c.Help...)
	if strings.Contains(help, c.HelpHas) {
		return nil
	}
	what := fmt.Sprintf("in the installed version has no command %q", strings.TrimSpace(c.HelpHas))
	if err != nil {
		what += fmt.Sprintf(" (%v)", err)
	}
	return &UnsupportedError{Agent: agent, What: what}
}
