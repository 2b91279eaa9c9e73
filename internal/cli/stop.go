package cli

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/stop"
)

type stopOptions struct {
	common
	stopSelection
	force, yes, dryRun, orphans bool
	timeout                     time.Duration
}

// stopTimeout is how long an agent may take to end: several times what the slowest needs with a tool running.
const stopTimeout = 10 * time.Second

func newStop(env Env) *cli.Command {
	o := &stopOptions{timeout: stopTimeout}
	return &cli.Command{
		Usage:     "stop sessions, with the tools that they run",
		UsageText: "agentctl stop [FLAGS] ID…",
		Description: "Without an ID, stop ends the live sessions that match all selection flags. A selection never contains\n" +
			"the session that stop is called from, sub-agents' sessions or other users' sessions.",
		ArgsUsage: "ID…",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "also end processes that serve other sessions, and kill those that do not end", Destination: &o.force},
			spanFlag("timeout", "how long an agent may take to end: `D`", &o.timeout),
			&cli.BoolFlag{Name: "all", Usage: "select every live session; asks first", Destination: &o.all},
			&cli.BoolFlag{Name: "orphans", Usage: "end the processes that stopped sessions left behind (list --orphans); asks first", Destination: &o.orphans},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
		}, o.scope.flags("select"), []cli.Flag{
			spanFlag("idle-for", "select sessions that have been idle for `D` or longer", &o.idleFor),
			spanFlag("older-than", "select sessions whose process has run for `D` or longer", &o.olderThan),
			adapterFlag(&o.adapters),
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be done", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but errors", Destination: &o.quiet},
			jsonFlag(&o.json),
		}),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if err := o.check(args, env.Terminal); err != nil {
				return err
			}
			if o.orphans {
				return env.stopOrphans(c.Context, o)
			}
			return env.stop(c.Context, args, o)
		},
	}
}

// check refuses what makes no sense, whatever lives just now: a script that nobody can be asked in is told the first time.
func (o *stopOptions) check(args []string, terminal bool) error {
	selects := o.stopSelection != stopSelection{}
	switch {
	case o.orphans && (len(args) > 0 || selects):
		return badUsage("stop", "--orphans takes no IDs and no selection but --adapter")
	case len(args) > 0 && selects:
		return badUsage("stop", "IDs and a selection cannot be used together")
	case len(args) == 0 && !selects && !o.orphans:
		return badUsage("stop", "stop needs the ID of a session, or a selection: --cwd, --repo, --idle-for, --older-than, --group, --all, --orphans")
	case o.quiet && o.json:
		return badUsage("stop", "--quiet and --json cannot be used together")
	case (o.all || o.orphans) && !o.yes && !o.dryRun && (o.json || !terminal):
		return badUsage("stop", "--all and --orphans need --yes when not on a terminal, and with --json")
	}
	return nil
}

func (env Env) stop(ctx context.Context, args []string, o *stopOptions) error {
	c, err := env.call("stop", &o.common, nil)
	if err != nil {
		return err
	}
	ctx, end := interruptible(ctx) // until it is said what was done: a signal between two steps would be lost
	defer end()
	chosen, partial, err := c.toStop(ctx, args, o)
	if err != nil {
		return err
	}
	if len(chosen) == 0 && !o.quiet && !o.json {
		env.report.note("no live session matches")
	}
	if o.all && !o.yes && !o.dryRun && len(chosen) > 0 {
		err := env.confirmed(ctx, "stop these?", func(w io.Writer) error { return output.SessionTable(w, chosen, c.look) })
		if err != nil {
			return err
		}
	}
	return c.endAll(ctx, o, func() (results []stop.Result, unread, err error) {
		results, err = stop.Sessions(ctx, c.world, chosen, o.how(env))
		return results, partial, err
	})
}

// endAll ends processes and says what has become of them. partial is the error of what could not be read.
func (c *call) endAll(ctx context.Context, o *stopOptions, end func() (results []stop.Result, partial, err error)) error {
	quiet := c.progress("stopping")
	results, partial, err := end()
	interrupted := ctx.Err()
	quiet()
	if err != nil {
		return err
	}
	if o.orphans && len(results) == 0 && !o.quiet && !o.json {
		c.report.note("no orphaned processes found")
	}
	if err := c.printStops(results, o); err != nil {
		return err
	}
	return cmp.Or(interrupted, notStopped(results), partial)
}

// how is how processes are to be ended.
func (o *stopOptions) how(env Env) stop.Options {
	return stop.Options{
		Timeout: o.timeout, Force: o.force, DryRun: o.dryRun, SelfPID: env.PID, Host: launch.NewEnvironment(env.Environ, env.Adapters),
	}
}

// toStop finds the sessions. If one of the arguments means none, nothing is done about the others. partial says that the
// selection may have missed some.
func (c *call) toStop(ctx context.Context, args []string, o *stopOptions) (chosen []discover.Session, partial, err error) {
	quiet := c.progress("looking for the sessions")
	defer quiet()
	if len(args) > 0 {
		r, err := c.findAll(ctx, args)
		_ = c.warn(r.Warnings) // what becomes of these sessions is looked up again
		return r.Sessions, nil, err
	}
	r, err := c.selected(ctx, "stop", o.scope, false)
	if err != nil {
		return nil, nil, err
	}
	chosen = slices.DeleteFunc(r.Sessions, func(s discover.Session) bool { return !o.takes(s, c.Now()) || c.foreign(r, s) })
	return chosen, c.warn(r.Warnings), nil
}

// findAll finds the sessions that several arguments mean, each once.
func (c *call) findAll(ctx context.Context, args []string) (all discover.Result, err error) {
	for _, arg := range args {
		r, err := c.world.Find(ctx, arg, c.agents, discover.ReadOptions{})
		all.Warnings = append(all.Warnings, r.Warnings...)
		if err != nil {
			return all, err
		}
		for _, s := range r.Sessions {
			if !includes(all.Sessions, s) {
				all.Sessions = append(all.Sessions, s)
			}
		}
	}
	return all, nil
}
