package cli

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/internal/terminal"
	"agentctl/launch/stop"
)

type listOptions struct {
	CommonFlags
	all, children, tokens, wide, noPager, orphans, watch bool
	since, sort                                          string
	scope                                                Scope
	limit                                                int
	quietFor                                             time.Duration
	statuses                                             cli.StringSlice
}

func listCommand(env Env) *cli.Command {
	o := &listOptions{}
	return &cli.Command{
		Usage: "list live sessions; with -a, stopped ones too",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "include stopped sessions", Destination: &o.all},
			&cli.StringFlag{Name: "since", Usage: "include stopped sessions active since `WHEN`: 2h30m, 30d, 2w, today, yesterday, boot, a date, a time, all (default: 7d, or the configuration's)", Destination: &o.since},
			AdapterFlag(&o.AdapterNames),
			ListFlag("status", "only this `STATUS`: running, waiting, idle, stopped, unknown; or only stopped sessions that ended so: interrupted, error, completed", &o.statuses),
		}, o.scope.Flags("only"), []cli.Flag{
			DurationFlag("quiet-for", "only running sessions of which nothing has moved for `D`, and nothing explains that", &o.quietFor),
			&cli.IntFlag{Name: "n", Usage: "show at most `N` sessions, the newest; 0 shows all", Destination: &o.limit},
			&cli.StringFlag{Name: "sort", Usage: "order by `KEY`: " + strings.Join(sortKeys(), ", "), Destination: &o.sort},
			&cli.BoolFlag{Name: "children", Usage: "include sub-agents' sessions", Destination: &o.children},
			&cli.BoolFlag{Name: "tokens", Usage: "include token counts and cost in every row of --json and --format", Destination: &o.tokens},
			&cli.BoolFlag{Name: "orphans", Usage: "show the processes that stopped sessions left behind, with their ports, instead of sessions", Destination: &o.orphans},
			&cli.BoolFlag{Name: "wide", Usage: "also show each session's CPU time, memory, ports, context, uncommitted changes and what its turn is doing", Destination: &o.wide},
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "show the table on the terminal and update it, sessions that need you first; q ends it", Destination: &o.watch},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print IDs only", Destination: &o.Quiet},
		}, o.tableFlags(), []cli.Flag{
			&cli.BoolFlag{Name: "no-pager", Usage: "do not use a pager", Destination: &o.noPager},
		}),
		CustomHelpTemplate: HelpTemplate("agentctl list --all --since 30d", "agentctl list --repo . --status running,waiting", "agentctl list --watch"),
		Action: func(c *cli.Context) error {
			if o.watch {
				return runWatch(env, c, o)
			}
			if o.orphans {
				if err := listOnly(c, "orphans", "adapter", "json", "quiet", "no-trunc", "no-color"); err != nil {
					return err
				}
				return runOrphans(c.Context, env, o)
			}
			return runList(c.Context, env, o)
		},
	}
}

func runList(ctx context.Context, env Env, o *listOptions) error {
	switch {
	case o.wide && (o.Quiet || o.Format != ""):
		return UsageError("list", "--wide is for the table and --json, not for --quiet and --format")
	case o.quietFor > 0 && (o.wide || o.all || o.since != "" || len(o.statuses.Value()) > 0):
		return UsageError("list", "--quiet-for is about running sessions; it does not go with --wide, --all, --since and --status")
	case o.sort != "" && !slices.Contains(sortKeys(), o.sort):
		return UnknownWord("value of --sort", o.sort, sortKeys())
	}
	c, calls, err := env.NewHostCall("list", &o.CommonFlags, object.Session{}, nil)
	if err != nil {
		return err
	}
	filter, err := listSelection(c, o, calls == nil)
	if err != nil {
		return err
	}
	sessions, after, err := Collect(ctx, c, calls, func(ctx context.Context) ([]object.Session, []*discover.Warning, error) {
		if o.quietFor > 0 {
			working, done := c.StartWork(ctx, "looking at the processes")
			defer done()
			return quietFinder{call: c, filter: filter, longer: o.quietFor}.find(working)
		}
		return readList(ctx, c, filter, o.wide || o.sort == "cpu" || o.sort == "memory")
	})
	if err != nil {
		return err
	}
	if calls != nil {
		sessions = object.Merge(sessions, filter)
	}
	if i := slices.IndexFunc(orders(), func(by order) bool { return by.name == o.sort }); i >= 0 {
		compare := orders()[i].compare
		slices.SortStableFunc(sessions, func(a, b object.Session) int {
			return compare(row{s: a, load: totalLoad(a)}, row{s: b, load: totalLoad(b)})
		})
	}
	if o.Quiet {
		sessions = slices.DeleteFunc(sessions, func(s object.Session) bool { return s.ID == nil })
	}
	if err := printList(ctx, c, sessions, o); err != nil {
		return err
	}
	return after()
}

// order is a way to sort sessions: --sort of list, and s in top.
type order struct {
	name string
	// column is the title of the column that it sorts by.
	column string
	// compare is nil for the order in which sessions need the user, which list --watch and top have without another one.
	compare func(a, b row) int
}

// orders are all ways, in the order in which s goes through them: what is most, newest or, of texts, first is on top, what is not known
// below. The load of a row is what top measures, or [totalLoad] of list.
func orders() []order {
	most := func(n func(row) float64) func(a, b row) int {
		return func(a, b row) int { return cmp.Compare(n(b), n(a)) }
	}
	return []order{
		{name: "attention"},
		{"cpu", "CPU", most(func(r row) float64 { return value(r.load.CPU) })},
		{"memory", "MEMORY", most(func(r row) float64 { return float64(value(r.load.Memory)) })},
		{"tokens", "TOK/MIN", most(func(r row) float64 { return value(r.load.TokenRate) })},
		{"context", "CTX", most(func(r row) float64 {
			if t := r.s.Tokens; t != nil && t.Window > 0 {
				return float64(t.Context) / float64(t.Window)
			}
			return -1 // less than any that is known
		})},
		{"started", "AGE", func(a, b row) int { return cmp.Compare(b.s.StartedAt, a.s.StartedAt) }},
		{"last", "LAST", func(a, b row) int { return b.s.LastActivity().Compare(a.s.LastActivity()) }},
		{"agent", "AGENT", func(a, b row) int { return cmp.Compare(a.s.Adapter, b.s.Adapter) }},
		{"dir", "DIR", func(a, b row) int { return cmp.Compare(a.s.CWD, b.s.CWD) }},
	}
}

// value is what n points to; less than all values if it is not known.
func value[N int64 | float64](n *N) N {
	if n == nil {
		return -1
	}
	return *n
}

// sortKeys are the values of --sort.
func sortKeys() []string {
	return convert(orders()[1:], func(o order) string { return o.name })
}

// totalLoad is the processor time, the memory and the tokens of a session.
func totalLoad(s object.Session) (l render.Load) {
	l.CPU, l.Memory = render.TotalCPU(s.Processes), render.TotalMemory(s.Processes)
	if s.Tokens != nil {
		l.TokenRate = new(float64(s.Tokens.Total))
	}
	return l
}

// readList lists the sessions of this machine. With wide, each has its resources, and token counts are always read.
func readList(ctx context.Context, c *Call, filter discover.SessionFilter, wide bool) ([]object.Session, []*discover.Warning, error) {
	working, done := c.StartWork(ctx, "reading the agents' stores")
	defer done()
	filter.Tokens, filter.Full = filter.Tokens || wide, filter.Full || wide
	r, err := c.Scanner.List(working, filter)
	if err != nil || !wide {
		return SessionObjects(r.Sessions), r.Warnings, err
	}
	sessions, unanswered := c.SessionsWithResources(working, c.Scanner, r)
	return sessions, append(r.Warnings, unanswered...), working.Err()
}

// printList prints sessions as the flags say: as a JSON array, their names, by --format, or else as a table, through the pager if that is longer than the
// terminal.
func printList(ctx context.Context, c *Call, sessions []object.Session, o *listOptions) error {
	switch {
	case c.JSON, c.Template != nil:
		return PrintRows(c, sessions, render.SessionTable)
	case c.Quiet:
		return PrintEach(sessions, func(s object.Session) error {
			_, err := fmt.Fprintln(c.Stdout, render.Sanitize(s.Name()))
			return err
		})
	case len(sessions) == 0:
		if c.Width > 0 {
			what := "no live sessions; agentctl list -a shows stopped ones too"
			if o.quietFor > 0 {
				what = "no session has been quiet for so long without an explanation; agentctl list --wide shows all that are quiet"
			} else if o.all {
				what = "no sessions; agentctl list -a --since all looks further back"
			}
			c.Report.Note(what)
		}
		return nil
	}
	draw := render.SessionTable
	if o.wide {
		draw = render.WideSessionTable
	}
	var b bytes.Buffer
	if err := draw(&b, sessions, c.Style); err != nil {
		return err
	}
	return c.Page(ctx, b.Bytes(), o.noPager)
}

// listSelection makes the filter of the flags. Stopped sessions, or a window of time, imply --all. here reports whether the
// sessions are of this machine: only that machine can resolve the directories of --cwd and --repo.
func listSelection(c *Call, o *listOptions, here bool) (discover.SessionFilter, error) {
	filter := discover.SessionFilter{
		Agents: c.Agents, IncludeStopped: o.all || o.since != "", Limit: o.limit, Subagents: o.children, Tokens: o.tokens || o.sort == "tokens" || o.sort == "context",
	}
	filter.WaitingFirst = !o.JSON && !o.Quiet && o.Format == "" // in the table
	if o.limit < 0 {
		return filter, UsageError("list", "-n must be 0 or more")
	}
	err := selectStatuses(&filter, o.statuses.Value())
	if err != nil {
		return filter, err
	}
	filter.SinceBoot = o.since == sinceBoot
	if filter.Since, err = c.SinceTime("list", o.since); err != nil || !here {
		return filter, err
	}
	filter.Condition, err = o.scope.Match("list")
	if match := filter.Condition; o.Quiet {
		filter.Condition = func(s discover.Session) bool { return s.ID != "" && (match == nil || match(s)) }
	}
	return filter, err
}

// listOnly checks that no flags are set besides flag and those named.
func listOnly(c *cli.Context, flag string, allowed ...string) error {
	for _, f := range c.Command.Flags {
		if name := f.Names()[0]; name != flag && c.IsSet(name) && !slices.Contains(allowed, name) && name != "home" && name != "all-users" && name != "host" && name != "all-hosts" {
			return UsageError(CommandName(c.Command), "%s and %s cannot be used together", FlagText(flag), FlagText(name))
		}
	}
	return nil
}

func runOrphans(ctx context.Context, env Env, o *listOptions) error {
	c, calls, err := env.NewHostCall("list", &o.CommonFlags, nil, nil)
	if err != nil {
		return err
	}
	orphans, after, err := Collect(ctx, c, calls, func(ctx context.Context) ([]object.Orphan, []*discover.Warning, error) {
		working, done := env.StartWork(ctx, "reading the processes")
		defer done()
		found, r, err := stop.FindOrphans(working, c.Scanner, c.Agents)
		return OrphanObjects(found), r.Warnings, err
	})
	if err != nil {
		return err
	}
	switch {
	case o.Quiet:
		err = PrintEach(orphans, func(orphan object.Orphan) error {
			_, err := fmt.Fprintf(env.Stdout, "%s%d\n", object.HostPrefix(orphan.Host), orphan.PID)
			return err
		})
	case len(orphans) == 0 && !o.JSON && env.Width > 0:
		env.Report.Note("no orphaned processes found")
	default:
		err = PrintRows(c, orphans, render.OrphanTable)
	}
	if err != nil {
		return err
	}
	return after()
}

func runWatch(env Env, c *cli.Context, o *listOptions) error {
	allowed := []string{"all", "since", "adapter", "status", "cwd", "repo", "group", "n", "children", "no-color"}
	if env.Remote { // by the list --watch of another machine
		allowed = append(allowed, "json")
	}
	if err := listOnly(c, "watch", allowed...); err != nil {
		return err
	}
	if env.Remote {
		return streamRows(c.Context, env, o)
	}
	in, out, ok := Terminal(env)
	if !ok {
		return NewUsageError("--watch needs a terminal that can be redrawn", "agentctl list prints the sessions once, and agentctl events what changes")
	}
	call, err := env.NewCall("list", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(c.Context)
	defer stop()
	if _, err := listSelection(call, o, false); err != nil {
		return err
	}
	table, limit := NewTable(stop), o.limit // not of the filter: the table has what stopped meanwhile, too
	err = table.Follow(ctx, call, func() (*watch.Watcher, error) {
		filter, err := listSelection(call, o, true)
		filter.Limit = 0
		return watch.NewFilterWatcher(call.Scanner, filter), err
	}, func(call HostCall) HostCall { return call.WithoutFlags("n") })
	if err != nil {
		return err
	}
	screen := terminal.Screen{In: in, Out: out, Changed: table.Changed, Frame: func(columns, rows int) []string {
		style := call.Style
		style.Width, style.Now = columns, env.Now()
		sessions, warnings, known := table.Sessions(style.Now)
		if !known {
			return []string{"reading …"}
		}
		if limit > 0 && len(sessions) > limit {
			sessions = sessions[:limit]
		}
		return render.Frame(sessions, warnings, style, rows)
	}}
	err = screen.Show(ctx)
	stop()
	return table.Finish(env, err)
}

// streamRows prints the sessions for the table of another machine, whenever they have changed.
func streamRows(ctx context.Context, env Env, o *listOptions) error {
	c, err := env.NewCall("list", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	filter, err := listSelection(c, o, true)
	if err != nil {
		return err
	}
	filter.Limit = 0
	var last []byte
	return EachResult(ctx, watch.NewFilterWatcher(c.Scanner, filter), func(r discover.Result) (bool, error) {
		_ = c.ReportWarnings(r.Warnings)
		rows := object.SessionRows{Sessions: SessionObjects(r.Sessions)}
		var line bytes.Buffer
		if err := render.JSONLine(&line, rows); err != nil || bytes.Equal(line.Bytes(), last) {
			return true, err
		}
		last = line.Bytes()
		_, err := env.Stdout.Write(last)
		return true, err
	})
}
