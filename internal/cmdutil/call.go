package cmdutil

import (
	"cmp"
	"context"
	"io"
	"time"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/output"
)

// Call is one run of a command that uses a scanner.
type Call struct {
	Factory
	config.Config
	Style   output.TextOptions
	Scanner *discover.Scanner
	// Agents are those of --adapter; empty for all.
	Agents []discover.Agent
	// Template prints an object by --format; nil without it.
	Template func(w io.Writer, object any) error
}

// NewCall reads the configuration and the common flags. object is of the type that --format prints; nil for a command
// without --format.
func (f Factory) NewCall(verb string, o *CommonFlags, object any) (*Call, error) {
	if o.Quiet && o.JSON {
		return nil, UsageError(verb, "--quiet and --json cannot be used together")
	}
	c := &Call{Factory: f}
	var err error
	if c.Config, c.Style, err = f.Settings(o.NoColor); err != nil {
		return nil, err
	}
	if o.NoTrunc {
		c.Style.Width = 0
	}
	if c.Template, err = f.template(verb, &o.Format, &o.JSON, object); err != nil {
		return nil, err
	}
	if c.Agents, err = f.ChosenAgents(o.AdapterNames.Value()); err != nil {
		return nil, err
	}
	c.Scanner = f.NewScanner(c.Homes)
	return c, nil
}

// PrintRows prints the rows of a list as JSON, by --format, or as a table.
func PrintRows[T any](c *Call, rows []T, asJSON bool, table func(io.Writer, []T, output.TextOptions) error) error {
	switch {
	case asJSON:
		return output.JSONArray(c.Stdout, rows)
	case c.Template != nil:
		return PrintEach(rows, func(row T) error { return c.Template(c.Stdout, row) })
	case len(rows) == 0:
		return nil
	}
	return table(c.Stdout, rows, c.Style)
}

// List lists the sessions of a filter; what names the work in the progress line.
func (c *Call) List(ctx context.Context, what string, sel discover.SessionFilter) (discover.Result, error) {
	working, done := c.StartQuery(ctx, what)
	defer done()
	return c.Scanner.List(working, sel)
}

// Find finds the sessions that an argument means. If it fails, it reports the warnings, which may be the reason.
func (c *Call) Find(ctx context.Context, arg string, want discover.ReadOptions) (discover.Result, error) {
	working, done := c.StartQuery(ctx, "looking for "+output.Sanitize(arg))
	defer done()
	r, err := c.Scanner.Find(working, arg, c.Agents, want)
	if working.Err() != nil {
		err = working.Err()
	}
	if err != nil {
		_ = c.ReportWarnings(r.Warnings)
	}
	return r, err
}

// PrintEach prints each object, until an error.
func PrintEach[T any](list []T, print func(T) error) error {
	for _, object := range list {
		if err := print(object); err != nil {
			return err
		}
	}
	return nil
}

// SinceTime returns the time of --since, or of the configuration.
func (c *Call) SinceTime(verb, flag string) (time.Time, error) {
	at, err := config.ParseSince(cmp.Or(flag, string(c.Since)), c.Style.Now)
	if err != nil {
		return at, UsageError(verb, "--since: %v", err)
	}
	return at, nil
}

// Settings reads the configuration and the style of the output: flags override the environment, which overrides the file.
// They are resolved here only.
func (f Factory) Settings(noColor bool) (c config.Config, style output.TextOptions, err error) {
	if c, err = config.Load(config.Path(f.Getenv), f.Getenv("HOME"), f.AgentNames()); err != nil {
		return c, style, err
	}
	if c.Homes, err = f.Users.addHomes(f.Adapters, c.Homes); err != nil {
		return c, style, err
	}
	style = output.TextOptions{Width: f.Width, Now: f.Now(), Home: f.Getenv("HOME"), MinShortID: f.shortID}
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
	if a, ok := discover.AdapterWith[discover.IDShortener](f.Adapters, discover.Agent(agent)); ok {
		return a.ShortID(id)
	}
	return discover.MinShortID
}
