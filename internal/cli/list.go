package cli

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/render"
)

type listOptions struct {
	all, children, tokens, wide, noTrunc, quiet, json, noColor, noPager, orphans, watch bool
	since, format                                                                       string
	scope                                                                               scope
	limit                                                                               int
	adapters, statuses                                                                  cli.StringSlice
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
			if _, err := arguments(c, 0, ""); err != nil {
				return err
			}
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
	s, err := env.settings(o.noColor)
	if err != nil {
		return err
	}
	sel, err := env.selection(o, s)
	if err != nil {
		return err
	}
	if o.wide {
		return env.listWide(ctx, sel, o, s)
	}
	print, err := env.lister(ctx, o, s)
	if err != nil {
		return err
	}
	if o.all {
		collectLate()
	}
	working, done := env.look(ctx, "reading the agents' stores")
	r, err := env.world(s.Homes).List(working, sel)
	done()
	if err != nil {
		return err
	}
	if err := print(r.Sessions); err != nil {
		return err
	}
	return env.warn(r.Warnings)
}

// lister chooses how rows are printed.
func (env Env) lister(ctx context.Context, o *listOptions, s settings) (func([]discover.Session) error, error) {
	forms := 0
	for _, chosen := range []bool{o.json, o.quiet, o.format != ""} {
		if chosen {
			forms++
		}
	}
	if forms > 1 {
		return nil, badUsage("list", "--json, --quiet and --format cannot be used together")
	}
	template, err := env.template("list", &o.format, &o.json, render.Session{})
	if err != nil {
		return nil, err
	}
	switch {
	case o.json:
		return func(list []discover.Session) error { return render.JSONArrayOf(env.Stdout, list, render.Of) }, nil
	case o.quiet:
		return env.printIDs, nil
	case template != nil:
		return func(list []discover.Session) error {
			for _, session := range list {
				if err := template(render.Of(session)); err != nil {
					return err
				}
			}
			return nil
		}, nil
	}
	if o.noTrunc {
		s.look.Width = 0
	}
	return func(list []discover.Session) error { return env.table(ctx, list, o, s) }, nil
}

// table prints sessions for people, those first that wait for them; what is longer than a terminal goes through the pager.
func (env Env) table(ctx context.Context, list []discover.Session, o *listOptions, s settings) error {
	if len(list) > 0 {
		render.WaitingFirst(list)
		return env.paged(ctx, o, func(b *bytes.Buffer) error { return render.Table(b, list, s.look) })
	}
	if env.Width > 0 {
		what := "no live sessions; agentctl list -a shows stopped ones too"
		if o.all {
			what = "no sessions; agentctl list -a --since all looks further back"
		}
		env.report.note(what)
	}
	return nil
}

// paged prints what draw draws, through the pager if it is longer than the terminal.
func (env Env) paged(ctx context.Context, o *listOptions, draw func(*bytes.Buffer) error) error {
	var b bytes.Buffer
	if err := draw(&b); err != nil {
		return err
	}
	if o.noPager {
		_, err := env.Stdout.Write(b.Bytes())
		return err
	}
	return env.page(ctx, b.Bytes())
}

func (env Env) printIDs(list []discover.Session) error {
	for _, s := range list {
		if _, err := fmt.Fprintln(env.Stdout, render.Clean(s.ID)); err != nil {
			return err
		}
	}
	return nil
}
