package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/output"
)

type listOptions struct {
	common
	all, children, tokens, wide, noPager, orphans, watch bool
	since                                                string
	scope                                                scope
	limit                                                int
	statuses                                             cli.StringSlice
}

func newList(env Env) *cli.Command {
	o := &listOptions{}
	return &cli.Command{
		Usage:     "list live sessions; with -a, stopped ones too",
		UsageText: "agentctl list [FLAGS]",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "all", Aliases: []string{"a"}, Usage: "include stopped sessions", Destination: &o.all},
			&cli.StringFlag{Name: "since", Usage: "include stopped sessions active since `WHEN`: 12h, 30d, 2w, a date, a time, all (default: 7d, or the configuration's)", Destination: &o.since},
			adapterFlag(&o.adapters),
			&cli.StringSliceFlag{Name: "status", Usage: "only this `STATUS`: running, waiting, idle, stopped, unknown (may be repeated)", Destination: &o.statuses},
		}, o.scope.flags("only"), []cli.Flag{
			&cli.IntFlag{Name: "n", Usage: "show at most `N` sessions, the newest; 0 shows all", Destination: &o.limit},
			&cli.BoolFlag{Name: "children", Usage: "include sub-agents' sessions", Destination: &o.children},
			&cli.BoolFlag{Name: "tokens", Usage: "include token counts in every row of --json and --format", Destination: &o.tokens},
			&cli.BoolFlag{Name: "orphans", Usage: "show the processes that stopped sessions left behind, with their ports, instead of sessions", Destination: &o.orphans},
			&cli.BoolFlag{Name: "wide", Usage: "also show each session's processor time, memory, ports, context and uncommitted changes", Destination: &o.wide},
			&cli.BoolFlag{Name: "watch", Aliases: []string{"w"}, Usage: "show the table on the terminal and update it, sessions that need you first; q ends it", Destination: &o.watch},
			&cli.BoolFlag{Name: "no-trunc", Usage: "do not shorten anything", Destination: &o.noTrunc},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print IDs only", Destination: &o.quiet},
			formatFlag(&o.format, sessionTemplate),
			jsonFlag(&o.json),
			noColorFlag(&o.noColor),
			&cli.BoolFlag{Name: "no-pager", Usage: "do not use a pager", Destination: &o.noPager},
		}),
		Action: func(c *cli.Context) error {
			if o.watch {
				return env.listWatch(c, o)
			}
			if o.orphans {
				if err := only(c, "orphans", "adapter", "json", "quiet", "no-trunc", "no-color"); err != nil {
					return err
				}
				return env.listOrphans(c.Context, o)
			}
			return env.list(c.Context, o)
		},
	}
}

func (env Env) list(ctx context.Context, o *listOptions) error {
	switch {
	case o.wide && (o.quiet || o.format != ""):
		return badUsage("list", "--wide is for the table and --json, not for --quiet and --format")
	case o.json && o.quiet, o.format != "" && (o.json || o.quiet):
		return badUsage("list", "--json, --quiet and --format cannot be used together")
	}
	c, err := env.call("list", &o.common, output.Session{})
	if err != nil {
		return err
	}
	sel, err := c.selection(o)
	if err != nil {
		return err
	}
	if o.wide {
		return c.listWide(ctx, sel, o)
	}
	if o.all {
		collectLate()
	}
	r, err := c.sessions(ctx, "reading the agents' stores", sel)
	if err != nil {
		return err
	}
	if err := c.printSessions(ctx, r.Sessions, o); err != nil {
		return err
	}
	return env.warn(r.Warnings)
}

func (c *call) printSessions(ctx context.Context, list []discover.Session, o *listOptions) error {
	switch {
	case o.json:
		return output.JSONArrayFunc(c.Stdout, list, output.NewSession)
	case o.quiet:
		for _, s := range list {
			if _, err := fmt.Fprintln(c.Stdout, output.Sanitize(s.ID)); err != nil {
				return err
			}
		}
		return nil
	case c.template != nil:
		return printEach(list, func(s discover.Session) error { return c.template(c.Stdout, output.NewSession(s)) })
	}
	output.SortWaitingFirst(list)
	return c.printTable(ctx, len(list), o, func(b *bytes.Buffer) error { return output.SessionTable(b, list, c.look) })
}

// printTable prints n rows for people; what is longer than a terminal goes through the pager.
func (c *call) printTable(ctx context.Context, n int, o *listOptions, draw func(*bytes.Buffer) error) error {
	if n == 0 && c.Width > 0 {
		what := "no live sessions; agentctl list -a shows stopped ones too"
		if o.all {
			what = "no sessions; agentctl list -a --since all looks further back"
		}
		c.report.note(what)
	}
	if n == 0 {
		return nil
	}
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return err
	}
	if o.noPager {
		_, err := c.Stdout.Write(b.Bytes())
		return err
	}
	return c.page(ctx, b.Bytes())
}
