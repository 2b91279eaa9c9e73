// Package stop is the command stop.
package stop

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/internal/output"
	"agentctl/launch"
	"agentctl/launch/stop"
)

type options struct {
	cmdutil.CommonFlags
	selection
	force, yes, dryRun, orphans bool
	timeout                     time.Duration
}

func New(f cmdutil.Factory) *cli.Command {
	o := &options{timeout: cmdutil.StopTimeout}
	return &cli.Command{
		Usage:     "stop sessions, with the tools that they run",
		UsageText: "agentctl stop [FLAGS] ID…\nagentctl stop [FLAGS] --cwd DIR | --repo DIR | --idle-for D | --older-than D | --group G | --all\nagentctl stop [FLAGS] --orphans",
		Description: "Without an ID, stop ends the live sessions that match all selection flags. A selection never contains\n" +
			"the session that stop is called from, sub-agents' sessions or other users' sessions.",
		ArgsUsage: "ID…",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "also end processes that serve other sessions, and kill those that do not end", Destination: &o.force},
			cmdutil.DurationFlag("timeout", "how long an agent may take to end: `D`", &o.timeout),
			&cli.BoolFlag{Name: "all", Usage: "select every live session; asks first", Destination: &o.all},
			&cli.BoolFlag{Name: "orphans", Usage: "end the processes that stopped sessions left behind (list --orphans); asks first", Destination: &o.orphans},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
		}, o.scope.Flags("select"), []cli.Flag{
			cmdutil.DurationFlag("idle-for", "select sessions that have been idle for `D` or longer", &o.idleFor),
			cmdutil.DurationFlag("older-than", "select sessions whose process has run for `D` or longer", &o.olderThan),
			cmdutil.AdapterFlag(&o.AdapterNames),
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be done", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but errors", Destination: &o.Quiet},
			cmdutil.JSONFlag(&o.JSON),
		}),
		CustomHelpTemplate: cmdutil.HelpTemplate("agentctl stop 88d1d394", "agentctl stop --repo . --dry-run", "agentctl stop --idle-for 2h --quiet"),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if err := o.check(args, f.Terminal && !f.OnHosts(args...)); err != nil {
				return err
			}
			if f.OnHosts(args...) {
				return runHosts(c.Context, f, args, o)
			}
			if o.orphans {
				return runOrphans(c.Context, f, o)
			}
			return run(c.Context, f, args, o)
		},
	}
}

// check refuses flags that do not go together, whatever sessions live now: a script that cannot be asked fails the
// first time it runs.
func (o *options) check(args []string, terminal bool) error {
	selects := o.selection != selection{}
	switch {
	case o.orphans && (len(args) > 0 || selects):
		return cmdutil.UsageError("stop", "--orphans takes no IDs and no selection but --adapter")
	case len(args) > 0 && selects:
		return cmdutil.UsageError("stop", "IDs and a selection cannot be used together")
	case len(args) == 0 && !selects && !o.orphans:
		return cmdutil.UsageError("stop", "stop needs the ID of a session, or a selection: --cwd, --repo, --idle-for, --older-than, --group, --all, --orphans")
	case o.Quiet && o.JSON:
		return cmdutil.UsageError("stop", "--quiet and --json cannot be used together")
	case (o.all || o.orphans) && !o.yes && !o.dryRun && (o.JSON || !terminal):
		return cmdutil.UsageError("stop", "--all and --orphans need --yes when not on a terminal, and with --json")
	}
	return nil
}

func run(ctx context.Context, f cmdutil.Factory, args []string, o *options) error {
	c, err := f.NewCall("stop", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	ctx, end := cmdutil.Interruptible(ctx) // until the results are printed: a signal between two steps would be lost
	defer end()
	chosen, partial, err := findSessions(ctx, c, args, o)
	if err != nil {
		return err
	}
	if len(chosen) == 0 && !o.Quiet && !o.JSON {
		f.Report.Note("no live session matches")
	}
	if o.all && !o.yes && !o.dryRun && len(chosen) > 0 {
		err := f.Confirm(ctx, "stop these?", nothingStopped, func(w io.Writer) error { return output.SessionTable(w, chosen, c.Style) })
		if err != nil {
			return err
		}
	}
	return endAll(ctx, c, o, func() (results []stop.Result, unread, err error) {
		results, err = stop.Sessions(ctx, c.Scanner, chosen, o.stopOptions(f))
		return results, partial, err
	})
}

// nothingStopped is the error after a no.
const nothingStopped = "nothing was stopped"

func runOrphans(ctx context.Context, f cmdutil.Factory, o *options) error {
	c, err := f.NewCall("stop", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	ctx, end := cmdutil.Interruptible(ctx)
	defer end()
	if !o.yes && !o.dryRun {
		found, _, err := stop.FindOrphans(ctx, c.Scanner, f.PID, c.Agents)
		if err != nil {
			return err
		}
		if len(found) > 0 {
			err = f.Confirm(ctx, "end these?", nothingStopped, func(w io.Writer) error { return output.OrphanTable(w, cmdutil.OrphanObjects(found), c.Style) })
		}
		if err != nil {
			return err
		}
	}
	return endAll(ctx, c, o, func() (results []stop.Result, partial, err error) {
		results, r, err := stop.EndOrphans(ctx, c.Scanner, o.stopOptions(f), c.Agents)
		return results, f.ReportWarnings(r.Warnings), err
	})
}

// endAll ends processes and prints the results. partial is the error of warnings.
func endAll(ctx context.Context, c *cmdutil.Call, o *options, end func() (results []stop.Result, partial, err error)) error {
	endProgress := c.Progress("stopping")
	results, partial, err := end()
	interrupted := ctx.Err()
	endProgress()
	if err != nil {
		return err
	}
	if o.orphans && len(results) == 0 && !o.Quiet && !o.JSON {
		c.Report.Note("no orphaned processes found")
	}
	if err := printStops(c.Factory, results, o); err != nil {
		return err
	}
	return cmp.Or(interrupted, cmdutil.StopError(results), partial)
}

// stopOptions says how to end processes.
func (o *options) stopOptions(f cmdutil.Factory) stop.Options {
	return stop.Options{
		Timeout: o.timeout, Force: o.force, DryRun: o.dryRun, SelfPID: f.PID, Host: launch.NewEnvironment(f.Environ, f.Adapters),
	}
}

// findSessions finds the sessions to stop. If one of the arguments means none, no session is stopped. partial says that
// a selection may have missed some.
func findSessions(ctx context.Context, c *cmdutil.Call, args []string, o *options) (chosen []discover.Session, partial, err error) {
	endProgress := c.Progress("looking for the sessions")
	defer endProgress()
	if len(args) > 0 {
		r, err := c.FindAll(ctx, args)
		_ = c.ReportWarnings(r.Warnings) // what becomes of these sessions is looked up again
		return r.Sessions, nil, err
	}
	r, err := c.Selected(ctx, "stop", o.scope, false)
	if err != nil {
		return nil, nil, err
	}
	chosen = slices.DeleteFunc(r.Sessions, func(s discover.Session) bool { return !o.matches(s, c.Now()) || c.OtherUsers(r, s) })
	return chosen, c.ReportWarnings(r.Warnings), nil
}
