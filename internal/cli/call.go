package cli

import (
	"context"
	"io"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/output"
)

// common are the flags that several commands have.
type common struct {
	json, quiet, noTrunc, noColor bool
	format                        string
	adapters                      cli.StringSlice
}

// call is one run of a command that asks the engine.
type call struct {
	Env
	config.Config
	look  output.TextOptions
	world *discover.Scanner
	// agents are those of --adapter; all if there are none.
	agents []discover.Agent
	// template prints an object as --format says; nil if it is not given.
	template func(w io.Writer, object any) error
}

// call reads the configuration and the common flags. object is one that --format prints; nil for a command without it.
func (env Env) call(verb string, o *common, object any) (*call, error) {
	if o.quiet && o.json {
		return nil, badUsage(verb, "--quiet and --json cannot be used together")
	}
	c := &call{Env: env}
	var err error
	if c.Config, c.look, err = env.settings(o.noColor); err != nil {
		return nil, err
	}
	if o.noTrunc {
		c.look.Width = 0
	}
	if c.template, err = env.template(verb, &o.format, &o.json, object); err != nil {
		return nil, err
	}
	if c.agents, err = env.chosenAgents(o.adapters.Value()); err != nil {
		return nil, err
	}
	c.world = env.world(c.Homes)
	return c, nil
}

// printRows prints the rows of a list in the form that was asked for.
func printRows[T any](c *call, rows []T, asJSON bool, table func(io.Writer, []T, output.TextOptions) error) error {
	switch {
	case asJSON:
		return output.JSONArray(c.Stdout, rows)
	case c.template != nil:
		return printEach(rows, func(row T) error { return c.template(c.Stdout, row) })
	case len(rows) == 0:
		return nil
	}
	return table(c.Stdout, rows, c.look)
}

// sessions lists what is selected.
func (c *call) sessions(ctx context.Context, what string, sel discover.SessionFilter) (discover.Result, error) {
	working, done := c.query(ctx, what)
	defer done()
	return c.world.List(working, sel)
}

// find finds the sessions that an argument means. Where it fails the warnings, which may be why, are said.
func (c *call) find(ctx context.Context, arg string, want discover.ReadOptions) (discover.Result, error) {
	working, done := c.query(ctx, "looking for "+output.Sanitize(arg))
	defer done()
	r, err := c.world.Find(working, arg, c.agents, want)
	if working.Err() != nil {
		err = working.Err()
	}
	if err != nil {
		_ = c.warn(r.Warnings)
	}
	return r, err
}
