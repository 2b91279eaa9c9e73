package cli

import (
	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/render"
)

// Settings reads the configuration and the style of the output: flags override the environment, which overrides the file.
// They are resolved here only.
func (f Factory) Settings(noColor bool) (c config.Config, style render.TextOptions, err error) {
	if c, err = config.Load(config.Path(f.Getenv), f.Getenv("HOME"), f.AgentNames()); err != nil {
		return c, style, err
	}
	if c.Homes, err = f.Users.addHomes(f.Adapters, c.Homes); err != nil {
		return c, style, err
	}
	style = render.TextOptions{Width: f.Width, Now: f.Now(), Home: f.Getenv("HOME"), MinShortID: f.shortID}
	switch {
	case noColor, f.Getenv("NO_COLOR") != "", f.Getenv("TERM") == "dumb":
		c.Color = config.Never
	case c.Color == config.Auto:
		style.Color = f.Width > 0
	default:
		style.Color = c.Color == config.Always
	}
	return c, style, nil
}

// shortID is the least length of a prefix of an agent's ID.
func (f Factory) shortID(agent, id string) int {
	return discover.AdapterOf(f.Adapters, discover.Agent(agent)).ShortID(id)
}
