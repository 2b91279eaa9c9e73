// Package messages prints the messages of a session, and follows it: what the commands peek and logs share.
package messages

import (
	"context"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
)

// Options has the flags of peek and logs.
type Options struct {
	cmdutil.CommonFlags
	Verb                                    string
	Limit                                   int
	Follow, tools, children, whole, noPager bool
}

// NewCommand makes a command that prints the messages of a session.
func NewCommand(f cmdutil.Factory, o *Options, usage string) *cli.Command {
	return &cli.Command{
		Usage:     usage,
		UsageText: "agentctl " + o.Verb + " [FLAGS] ID",
		ArgsUsage: "ID",
		Flags: []cli.Flag{
			&cli.IntFlag{Name: "n", Usage: "show at most `N` messages, the newest; 0 shows all", Value: o.Limit, Destination: &o.Limit},
			&cli.BoolFlag{Name: "tools", Usage: "also show the input and output of tool calls", Destination: &o.tools},
			&cli.BoolFlag{Name: "children", Usage: "include sub-agents' messages, each with its session's ID", Destination: &o.children},
			&cli.BoolFlag{Name: "no-trunc", Usage: "do not shorten anything", Destination: &o.whole},
			&cli.BoolFlag{Name: "no-pager", Usage: "do not use a pager", Destination: &o.noPager},
			cmdutil.AdapterFlag(&o.AdapterNames),
			cmdutil.JSONFlag(&o.JSON),
			cmdutil.NoColorFlag(&o.NoColor),
		},
		Action: func(c *cli.Context) error {
			args, err := cmdutil.Arguments(c, 1, "the ID of a session")
			if err != nil {
				return err
			}
			if o.Limit < 0 {
				return cmdutil.UsageError(o.Verb, "-n must be 0 or more")
			}
			return run(c.Context, f, args[0], o)
		},
	}
}

func run(ctx context.Context, f cmdutil.Factory, arg string, o *Options) error {
	c, err := f.NewCall(o.Verb, &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	if f.OnHosts(arg) {
		return runOnHost(ctx, c, arg, o)
	}
	ctx, stop := cmdutil.Interruptible(ctx) // over all steps: a signal between two of them would be lost
	defer stop()
	endProgress := f.Progress("looking for " + output.Sanitize(arg))
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
	t := &printer{Call: c, options: o, endProgress: endProgress, sessions: r.Sessions, subagents: c.Scanner.TrackSubagents()}
	t.unread(r.Warnings)
	if o.Follow {
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
