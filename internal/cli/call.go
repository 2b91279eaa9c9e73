package cli

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/render"
)

// Call is one run of a command that uses a scanner.
type Call struct {
	Factory
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
func (f Factory) NewCall(verb string, o *CommonFlags, object any) (*Call, error) {
	if o.Quiet && o.JSON {
		return nil, UsageError(verb, "--quiet and --json cannot be used together")
	}
	c := &Call{Factory: f, Quiet: o.Quiet}
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
	c.JSON = o.JSON // or --format json
	if c.Agents, err = f.ChosenAgents(o.AdapterNames.Value()); err != nil {
		return nil, err
	}
	c.Scanner = f.NewScanner(c.Config.Homes)
	return c, nil
}

// List lists the sessions of a filter; what names the work in the progress line.
func (c *Call) List(ctx context.Context, what string, filter discover.SessionFilter) (discover.Result, error) {
	working, done := c.StartWork(ctx, what)
	defer done()
	return c.Scanner.List(working, filter)
}

// Find finds the sessions that an argument means. If it fails, it reports the warnings, which may be the reason.
func (c *Call) Find(ctx context.Context, arg string, options discover.ReadOptions) (discover.Result, error) {
	working, done := c.StartWork(ctx, "looking for "+render.Sanitize(arg))
	defer done()
	r, err := c.Scanner.Find(working, arg, c.Agents, options)
	if working.Err() != nil {
		err = working.Err()
	}
	if err != nil {
		_ = c.ReportWarnings(r.Warnings)
	}
	return r, err
}

// FindOne is [Call.Find] of an argument that must mean one session, as pid:N may not.
func (c *Call) FindOne(ctx context.Context, arg string, options discover.ReadOptions) (discover.Session, discover.Result, error) {
	r, err := c.Find(ctx, arg, options)
	if err != nil {
		return discover.Session{}, r, err
	}
	if len(r.Sessions) > 1 {
		_ = c.ReportWarnings(r.Warnings) // the error says how it ends
		return discover.Session{}, r, &discover.AmbiguousError{Arg: arg, Candidates: r.Sessions, Total: len(r.Sessions)}
	}
	return r.Sessions[0], r, nil
}

// SinceTime returns the time of --since, or of the configuration.
func (c *Call) SinceTime(verb, flag string) (time.Time, error) {
	at, err := config.ParseSince(cmp.Or(flag, string(c.Config.Since)), c.Style.Now)
	if err != nil {
		return at, UsageError(verb, "--since: %v", err)
	}
	return at, nil
}

// HintLeftOut hints at what a time window leaves out, unless all of it is "", and at what includes it.
func (c *Call) HintLeftOut(includedBy string, what ...string) {
	what = slices.DeleteFunc(what, func(s string) bool { return s == "" })
	if len(what) > 0 {
		c.Report.Hint("left out: " + strings.Join(what, ", ") + "; " + includedBy + " includes everything")
	}
}

// OlderSessions describes so many sessions that a time window leaves out; "" for none.
func OlderSessions(n int) string {
	switch n {
	case 0:
		return ""
	case 1:
		return "1 older session"
	}
	return render.Count(int64(n)) + " older sessions"
}
