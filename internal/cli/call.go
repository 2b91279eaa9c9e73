package cli

import (
	"io"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/render"
)

// Call is one run of a command that uses a scanner.
type Call struct {
	Env
	// Config is the configuration, with the homes of --home.
	Config  config.Config
	Style   render.TextOptions
	Scanner *discover.Scanner
	// Agents are those of --adapter; empty for all.
	Agents []discover.Agent
	// JSON and Quiet are the flags --json and --quiet.
	JSON, Quiet bool
	// Template prints an object by --format; nil without it.
	Template func(w io.Writer, object any) error
}

// NewCall reads the configuration and the common flags. object is of the type that --format prints; nil for a command
// without --format.
func (env Env) NewCall(verb string, o *CommonFlags, object any) (*Call, error) {
	quiet := "--quiet"
	if verb == "search" {
		quiet = "--ids"
	}
	switch {
	case o.Quiet && o.JSON:
		return nil, UsageError(verb, "%s and --json cannot be used together", quiet)
	case o.Quiet && o.Format != "":
		return nil, UsageError(verb, "%s and --format cannot be used together", quiet)
	}
	c := &Call{Env: env, Quiet: o.Quiet}
	var err error
	if c.Config, c.Style, err = env.Settings(o.NoColor); err != nil {
		return nil, err
	}
	if o.NoTrunc {
		c.Style.Width = 0
	}
	if c.Template, err = env.template(verb, &o.Format, &o.JSON, object); err != nil {
		return nil, err
	}
	c.JSON = o.JSON // or --format json
	if c.Agents, err = env.ChosenAgents(o.AdapterNames.Value()); err != nil {
		return nil, err
	}
	c.Scanner = env.NewScanner(c.Config.Homes)
	return c, nil
}

// NewHostCall is [Env.NewCall] for a command that may be for other machines: calls is what each host is asked, as [Call.HostCalls] says; nil for this machine
// alone.
func (env Env) NewHostCall(verb string, o *CommonFlags, object any, ids []string, rest ...string) (c *Call, calls []HostCall, err error) {
	if c, err = env.NewCall(verb, o, object); err == nil {
		calls, err = c.HostCalls(ids, rest, false)
	}
	return c, calls, err
}

// Settings reads the configuration and the style of the output: flags override the environment, which overrides the file.
// They are resolved here only.
func (env Env) Settings(noColor bool) (c config.Config, style render.TextOptions, err error) {
	c, err = config.Load(config.Path(env.Getenv), env.Getenv("HOME"), env.AgentNames())
	if err != nil && env.ConfigFailed != nil {
		env.ConfigFailed(err)
		c, err = config.Load("", "", nil)
	}
	if err != nil {
		return c, style, err
	}
	if c.Homes, err = env.Users.addHomes(env.Adapters, c.Homes); err != nil {
		return c, style, err
	}
	style = render.TextOptions{Width: env.Width, Now: env.Now(), Home: env.Getenv("HOME"), MinShortID: func(agent, id string) int {
		return discover.AdapterOf(env.Adapters, discover.Agent(agent)).ShortID(id)
	}}
	switch {
	case noColor, env.Getenv("NO_COLOR") != "", env.Getenv("TERM") == "dumb":
		c.Color = config.Never
	case c.Color == config.Auto:
		style.Color = env.Width > 0
	default:
		style.Color = c.Color == config.Always
	}
	return c, style, nil
}
