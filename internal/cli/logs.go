// Package logs has the commands logs and peek, which print the messages of a session.
package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/render"
)

type logsOptions struct {
	CommonFlags
	verb                                    string
	limit                                   int
	follow, tools, children, whole, noPager bool
}

func logsCommand(f Factory) *cli.Command {
	o := &logsOptions{verb: "logs", limit: 50}
	c := logsNewCommand(f, o, "show the messages of a session; with -f, follow it until it stops", "agentctl logs -f 88d1d394", "agentctl logs -n 0 --tools 88d1d394")
	c.Flags = append(c.Flags, &cli.BoolFlag{
		Name: "follow", Aliases: []string{"f"}, Usage: "follow the session until it stops; exit with the last turn's result", Destination: &o.follow,
	})
	return c
}

// NewPeek makes the command peek: logs -n 20.
func NewPeek(f Factory) *cli.Command {
	return logsNewCommand(f, &logsOptions{verb: "peek", limit: 20}, "show the last messages of a session", "agentctl peek 88d1d394", "agentctl peek -n 1 88d1d394 --json")
}

func logsNewCommand(f Factory, o *logsOptions, usage string, examples ...string) *cli.Command {
	return &cli.Command{
		Usage:     usage,
		UsageText: "agentctl " + o.verb + " [FLAGS] ID",
		ArgsUsage: "ID",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "n", Usage: "show at most `N` messages, the newest; 0 shows all", Value: o.limit, Destination: &o.limit},
			&cli.BoolFlag{Name: "tools", Usage: "also show the input and output of tool calls", Destination: &o.tools},
			&cli.BoolFlag{Name: "children", Usage: "include sub-agents' messages, each with its session's ID", Destination: &o.children},
			&cli.BoolFlag{Name: "no-trunc", Usage: "do not shorten anything", Destination: &o.whole},
			&cli.BoolFlag{Name: "no-pager", Usage: "do not use a pager", Destination: &o.noPager},
			AdapterFlag(&o.AdapterNames),
			JSONFlag(&o.JSON),
			NoColorFlag(&o.NoColor),
		},
		Action: WithArgument("the ID of a session", func(ctx context.Context, arg string) error {
			if o.limit < 0 {
				return UsageError(o.verb, "-n must be 0 or more")
			}
			return runLogs(ctx, f, arg, o)
		}),
		CustomHelpTemplate: HelpTemplate(examples...),
	}
}

func runLogs(ctx context.Context, f Factory, arg string, o *logsOptions) error {
	c, err := f.NewCall(o.verb, &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	calls, err := c.Calls([]string{arg}, nil, false)
	if err != nil {
		return err
	}
	ctx, stop := Interruptible(ctx) // over all steps: a signal between two of them would be lost
	defer stop()
	p := newPrinter(c, o)
	if calls != nil {
		return p.fromHost(ctx, calls)
	}
	endProgress := f.Progress("looking for " + render.Sanitize(arg))
	defer endProgress()
	r, err := c.Scanner.Find(ctx, arg, c.Agents, discover.ReadOptions{})
	if err == nil {
		r.Sessions, err = onlyOne(arg, r.Sessions)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		endProgress()
		_ = f.ReportWarnings(r.Warnings) // the error says how it ends
		return err
	}
	t := &logsReader{logsPrinter: p, endProgress: endProgress, sessions: r.Sessions, subagents: c.Scanner.TrackSubagents()}
	t.unread(r.Warnings)
	if o.follow {
		return t.follow(ctx)
	}
	return t.once(ctx)
}

// onlyOne returns the only session that is not a sub-agent's, where an argument means all sessions of a process.
func onlyOne(arg string, sessions []discover.Session) ([]discover.Session, error) {
	var own []discover.Session
	for _, s := range sessions {
		if len(sessions) == 1 || !s.IsSubagent() {
			own = append(own, s)
		}
	}
	if len(own) != 1 {
		return nil, &discover.AmbiguousError{Arg: arg, Candidates: sessions, Total: len(sessions)}
	}
	return own, nil
}
