package cli

import (
	"context"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/output"
)

// transcriptOptions are those of peek and logs.
type transcriptOptions struct {
	common
	verb                                    string
	limit                                   int
	follow, tools, children, whole, noPager bool
}

func newPeek(env Env) *cli.Command {
	return env.transcriptCommand(&transcriptOptions{verb: "peek", limit: 20}, "show the last messages of a session")
}

func newLogs(env Env) *cli.Command {
	o := &transcriptOptions{verb: "logs", limit: 50}
	c := env.transcriptCommand(o, "show the messages of a session; with -f, follow it until it stops")
	c.Flags = append(c.Flags, &cli.BoolFlag{
		Name: "follow", Aliases: []string{"f"}, Usage: "follow the session until it stops; exit with the last turn's result", Destination: &o.follow,
	})
	return c
}

func (env Env) transcriptCommand(o *transcriptOptions, usage string) *cli.Command {
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
			adapterFlag(&o.adapters),
			jsonFlag(&o.json),
			noColorFlag(&o.noColor),
		},
		Action: func(c *cli.Context) error {
			args, err := arguments(c, 1, "the ID of a session")
			if err != nil {
				return err
			}
			if o.limit < 0 {
				return badUsage(o.verb, "-n must be 0 or more")
			}
			return env.transcript(c.Context, args[0], o)
		},
	}
}

func (env Env) transcript(ctx context.Context, arg string, o *transcriptOptions) error {
	c, err := env.call(o.verb, &o.common, nil)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx) // over all steps: a signal between two of them would be lost
	defer stop()
	quiet := env.progress("looking for " + output.Sanitize(arg))
	defer quiet()
	r, err := c.world.Find(ctx, arg, c.agents, discover.ReadOptions{})
	if err == nil {
		r.Sessions, err = onlyOne(arg, r.Sessions)
	}
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		quiet()
		_ = env.warn(r.Warnings) // the error says how it ends
		return err
	}
	t := &telling{call: c, options: o, quiet: quiet, sessions: r.Sessions, family: c.world.TrackSubagents()}
	t.unread(r.Warnings)
	if o.follow {
		return t.follow(ctx)
	}
	return t.once(ctx)
}

// onlyOne is the session that is meant where a process runs several: its own, not its sub-agents'.
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
