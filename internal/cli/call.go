package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/internal/config"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/lock"
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

// PrintSessions prints sessions as the flags say: as a JSON array, by --format, their names, or else by text.
func (c *Call) PrintSessions(sessions []object.Session, text func() error) error {
	switch {
	case c.JSON:
		return render.JSONArray(c.Stdout, sessions)
	case c.Quiet:
		return PrintEach(sessions, func(s object.Session) error {
			_, err := fmt.Fprintln(c.Stdout, render.Sanitize(s.Name()))
			return err
		})
	case c.Template != nil:
		return PrintEach(sessions, func(s object.Session) error { return c.Template(c.Stdout, s) })
	}
	return text()
}

// PrintRows prints objects: as a JSON array, by --format, or as a table, which has no header if it has no rows.
func PrintRows[T any](c *Call, rows []T, table func(io.Writer, []T, render.TextOptions) error) error {
	switch {
	case c.JSON:
		return render.JSONArray(c.Stdout, rows)
	case c.Template != nil:
		return PrintEach(rows, func(row T) error { return c.Template(c.Stdout, row) })
	case len(rows) == 0:
		return nil
	}
	return table(c.Stdout, rows, c.Style)
}

// PrintObject prints an object of a command that prints one or a stream: as a line of JSON, by --format, or else by text; with --quiet not at all.
func PrintObject[T any](c *Call, obj T, text func() error) error {
	switch {
	case c.Quiet:
		return nil
	case c.JSON:
		return render.JSONLine(c.Stdout, obj)
	case c.Template != nil:
		return c.Template(c.Stdout, obj)
	}
	return text()
}

// PrintEach prints each object, until an error.
func PrintEach[T any](list []T, print func(T) error) error {
	for _, obj := range list {
		if err := print(obj); err != nil {
			return err
		}
	}
	return nil
}

// template is a function that prints objects of a type by the text of --format, nil if there is none. The word json asks for what
// --json prints.
func (env Env) template(verb string, text *string, asJSON *bool, of any) (func(w io.Writer, obj any) error, error) {
	switch {
	case *text != "" && *asJSON:
		return nil, UsageError(verb, "--json and --format cannot be used together")
	case *text == formatJSON:
		*text, *asJSON = "", true
		return nil, nil
	case *text == "":
		return nil, nil
	}
	format, err := render.ParseFormat(*text, env.Now, of)
	if err != nil {
		return nil, UsageError(verb, "%v", err)
	}
	return func(w io.Writer, obj any) error {
		err := format.Write(w, obj)
		if bad, ok := errors.AsType[*render.FormatError](err); ok {
			return UsageError(verb, "%v", bad)
		}
		return err
	}, nil
}

// Show prints sessions in full: one, or all those of a process.
func (c *Call) Show(sessions []object.Session) error {
	for i := range sessions {
		if i > 0 && !c.JSON && c.Template == nil {
			fmt.Fprintln(c.Stdout)
		}
		var err error
		switch {
		case c.Template != nil:
			err = c.Template(c.Stdout, sessions[i])
		case c.JSON && len(sessions) > 1:
			err = render.JSONLine(c.Stdout, sessions[i])
		case c.JSON:
			err = render.JSON(c.Stdout, sessions[i])
		default:
			err = render.Details(c.Stdout, &sessions[i], c.Style)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// SessionObjects converts sessions to their JSON objects.
func SessionObjects(sessions []discover.Session) []object.Session {
	out := make([]object.Session, len(sessions))
	for i, s := range sessions {
		out[i] = object.NewSession(s)
	}
	return out
}

func (c *Call) PrintLocks(list []lock.Lock) error {
	objects := make([]object.Lock, 0, len(list))
	for _, l := range list {
		objects = append(objects, lockObject(l))
	}
	return PrintRows(c, objects, render.LockTable)
}

func lockObject(l lock.Lock) object.Lock {
	out := object.Lock{Directory: l.Dir, Kind: string(l.Kind), Since: object.Timestamp(l.Since())}
	switch {
	case l.Session != nil:
		session := object.NewSession(*l.Session)
		out.Adapter, out.SessionID, out.PID = session.Adapter, session.ID, session.PID
		out.Status = session.Status
	case len(l.Holders) > 0:
		out.PID, out.LockedBy, out.Shared = l.Holders[0].ID.PID, l.Holders[0].Name, l.Shared
	case l.Declared != nil && l.Declared.ReadErr != nil:
		out.Reason = l.Declared.ReadErr.Error()
	case l.Declared != nil:
		out.LockedBy, out.Reason, out.Until = l.Declared.By, l.Declared.Reason, object.Timestamp(l.Declared.Until)
	}
	return out
}
