package cli

import (
	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/output"
)

// settings reads the configuration, and how it is printed: flags over environment over file, resolved here and nowhere else.
func (env Env) settings(noColor bool) (c config.Config, look output.TextOptions, err error) {
	if c, err = config.Load(config.Path(env.Getenv), env.Getenv("HOME"), env.agentNames()); err != nil {
		return c, look, err
	}
	if c.Homes, err = env.users.named(env.Adapters, c.Homes); err != nil {
		return c, look, err
	}
	look = output.TextOptions{Width: env.Width, Now: env.Now(), Home: env.Getenv("HOME"), MinShortID: env.shortID}
	switch {
	case noColor, env.Getenv("NO_COLOR") != "", env.Getenv("TERM") == "dumb":
		c.Color = config.Never
	case c.Color == config.Auto:
		look.Color = env.Width > 0
	default:
		look.Color = c.Color == config.Always
	}
	return c, look, nil
}

// shortID is the least number of characters by which an agent's ID means one session.
func (env Env) shortID(agent, id string) int {
	if a, ok := discover.AdapterWith[discover.IDShortener](env.Adapters, discover.Agent(agent)); ok {
		return a.ShortID(id)
	}
	return discover.MinShortID
}

func jsonFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "json", Usage: "print JSON (agentctl schema)", Destination: to}
}

func noColorFlag(to *bool) cli.Flag {
	return &cli.BoolFlag{Name: "no-color", Usage: "print no colours", Destination: to}
}

func adapterFlag(to *cli.StringSlice) cli.Flag {
	return &cli.StringSliceFlag{Name: "adapter", Usage: "only this `AGENT` (may be repeated)", Destination: to}
}

// arguments checks how many arguments a command got.
func arguments(c *cli.Context, want int, what string) ([]string, error) {
	args := c.Args().Slice()
	verb := verbOf(c.Command)
	switch {
	case len(args) < want:
		return nil, badUsage(verb, "%s needs %s", verb, what)
	case len(args) > want:
		return nil, badUsage(verb, "%s does not take the argument %q", verb, args[want])
	}
	return args, nil
}
