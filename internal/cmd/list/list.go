// Package list is the command list.
package list

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

type options struct {
	cmdutil.CommonFlags
	all, children, tokens, wide, noPager, orphans, watch bool
	since                                                string
	scope                                                cmdutil.Scope
	limit                                                int
	statuses                                             cli.StringSlice
}

func New(f cmdutil.Factory) *cli.Command {
	o := &options{}
	return &cli.Command{
		Usage:     "list live sessions; with -a, stopped ones too",
		UsageText: "agentctl list [FLAGS]",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "include stopped sessions", Destination: &o.all},
			&cli.StringFlag{Name: "since", Usage: "include stopped sessions active since `WHEN`: 12h, 30d, 2w, a date, a time, all (default: 7d, or the configuration's)", Destination: &o.since},
			cmdutil.AdapterFlag(&o.AdapterNames),
			&cli.StringSliceFlag{Name: "status", Usage: "only this `STATUS`: running, waiting, idle, stopped, unknown (may be repeated)", Destination: &o.statuses},
		}, o.scope.Flags("only"), []cli.Flag{
			&cli.IntFlag{Name: "n", Usage: "show at most `N` sessions, the newest; 0 shows all", Destination: &o.limit},
			&cli.BoolFlag{Name: "children", Usage: "include sub-agents' sessions", Destination: &o.children},
			&cli.BoolFlag{Name: "tokens", Usage: "include token counts and cost in every row of --json and --format", Destination: &o.tokens},
			&cli.BoolFlag{Name: "orphans", Usage: "show the processes that stopped sessions left behind, with their ports, instead of sessions", Destination: &o.orphans},
			&cli.BoolFlag{Name: "wide", Usage: "also show each session's CPU time, memory, ports, context, uncommitted changes and what its turn is doing", Destination: &o.wide},
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "show the table on the terminal and update it, sessions that need you first; q ends it", Destination: &o.watch},
			&cli.BoolFlag{Name: "no-trunc", Usage: "do not shorten anything", Destination: &o.NoTrunc},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print IDs only", Destination: &o.Quiet},
			cmdutil.FormatFlag(&o.Format, cmdutil.SessionTemplate),
			cmdutil.JSONFlag(&o.JSON),
			cmdutil.NoColorFlag(&o.NoColor),
			&cli.BoolFlag{Name: "no-pager", Usage: "do not use a pager", Destination: &o.noPager},
		}),
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl list --all --since 30d", "agentctl list --repo . --status running,waiting", "agentctl list --watch"),
		Action: func(c *cli.Context) error {
			if o.watch {
				return runWatch(f, c, o)
			}
			if o.orphans {
				if err := only(c, "orphans", "adapter", "json", "quiet", "no-trunc", "no-color"); err != nil {
					return err
				}
				return runOrphans(c.Context, f, o)
			}
			return run(c.Context, f, o)
		},
	}
}

func run(ctx context.Context, f cmdutil.Factory, o *options) error {
	switch {
	case o.wide && (o.Quiet || o.Format != ""):
		return cmdutil.UsageError("list", "--wide is for the table and --json, not for --quiet and --format")
	case o.JSON && o.Quiet, o.Format != "" && (o.JSON || o.Quiet):
		return cmdutil.UsageError("list", "--json, --quiet and --format cannot be used together")
	}
	c, err := f.NewCall("list", &o.CommonFlags, output.Session{})
	if err != nil {
		return err
	}
	if f.OnHosts() {
		return runHosts(ctx, c, o)
	}
	filter, err := selection(c, o)
	if err != nil {
		return err
	}
	if o.wide {
		return runWide(ctx, c, filter, o)
	}
	r, err := c.List(ctx, "reading the agents' stores", filter)
	if err != nil {
		return err
	}
	if err := printSessions(ctx, c, r.Sessions, o); err != nil {
		return err
	}
	return f.ReportWarnings(r.Warnings)
}

func printSessions(ctx context.Context, c *cmdutil.Call, list []discover.Session, o *options) error {
	switch {
	case o.JSON:
		return output.JSONArrayFunc(c.Stdout, list, output.NewSession)
	case o.Quiet:
		return cmdutil.PrintEach(list, func(s discover.Session) error {
			_, err := fmt.Fprintln(c.Stdout, output.Sanitize(s.ID))
			return err
		})
	case c.Template != nil:
		return cmdutil.PrintEach(list, func(s discover.Session) error { return c.Template(c.Stdout, output.NewSession(s)) })
	}
	return printSessionTable(ctx, c, list, o)
}

func printSessionTable(ctx context.Context, c *cmdutil.Call, list []discover.Session, o *options) error {
	return printTable(ctx, c, len(list), o, func(b *bytes.Buffer) error { return output.SessionTable(b, list, c.Style) })
}

// printTable prints n rows as text; through the pager if they are longer than the terminal.
func printTable(ctx context.Context, c *cmdutil.Call, n int, o *options, draw func(*bytes.Buffer) error) error {
	if n == 0 && c.Width > 0 {
		what := "no live sessions; agentctl list -a shows stopped ones too"
		if o.all {
			what = "no sessions; agentctl list -a --since all looks further back"
		}
		c.Report.Note(what)
	}
	if n == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return err
	}
	return c.Page(ctx, b.Bytes(), o.noPager)
}

// selection makes the filter of the flags of list. Stopped sessions, or a window of time, imply --all.
func selection(c *cmdutil.Call, o *options) (discover.SessionFilter, error) {
	filter, err := hostSelection(c, o)
	if err != nil {
		return filter, err
	}
	filter.Condition, err = o.scope.Match("list")
	if match := filter.Condition; o.Quiet {
		filter.Condition = func(s discover.Session) bool { return s.ID != "" && (match == nil || match(s)) }
	}
	return filter, err
}

// hostSelection is selection without what only the machine of the sessions can tell.
func hostSelection(c *cmdutil.Call, o *options) (discover.SessionFilter, error) {
	filter := discover.SessionFilter{
		Agents: c.Agents, IncludeStopped: o.all || o.since != "", Limit: o.limit, Subagents: o.children, Tokens: o.tokens,
	}
	filter.WaitingFirst = !o.JSON && !o.Quiet && o.Format == "" // in the table
	if o.limit < 0 {
		return filter, cmdutil.UsageError("list", "-n must be 0 or more")
	}
	words, err := cmdutil.SplitWords("status", o.statuses.Value(), cmdutil.Statuses())
	if err != nil {
		return filter, err
	}
	for _, w := range words {
		filter.Statuses = append(filter.Statuses, discover.Status(w))
		filter.IncludeStopped = filter.IncludeStopped || discover.Status(w) == discover.Stopped
	}
	filter.Since, err = c.SinceTime("list", o.since)
	return filter, err
}
