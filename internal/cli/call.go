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
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/proc"
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
	if o.Quiet && o.JSON {
		return nil, UsageError(verb, "--quiet and --json cannot be used together")
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

// sinceBoot is the --since that means when the machine has started.
const sinceBoot = "boot"

// SinceTime returns the time of --since, or of the configuration.
func (c *Call) SinceTime(verb, flag string) (time.Time, error) {
	if flag == sinceBoot {
		return proc.BootTime()
	}
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

// SessionObjects converts sessions to their JSON objects.
func SessionObjects(sessions []discover.Session) []object.Session {
	out := make([]object.Session, len(sessions))
	for i, s := range sessions {
		out[i] = object.NewSession(s)
	}
	return out
}
