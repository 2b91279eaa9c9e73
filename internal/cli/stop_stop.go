// Package stop is the command stop.
package cli

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/launch/stop"
)

type stopOptions struct {
	CommonFlags
	stopSelection
	force, yes, dryRun, orphans bool
	timeout                     time.Duration
}

func stopCommand(f Factory) *cli.Command {
	o := &stopOptions{timeout: StopTimeout}
	return &cli.Command{
		Usage:     "stop sessions, with the tools that they run",
		UsageText: "agentctl stop [FLAGS] ID…\nagentctl stop [FLAGS] --cwd DIR | --repo DIR | --idle-for D | --older-than D | --group G | --all\nagentctl stop [FLAGS] --orphans",
		Description: "Without an ID, stop ends the live sessions that match all selection flags. A selection never contains\n" +
			"the session that stop is called from, sub-agents' sessions or other users' sessions.",
		ArgsUsage: "ID…",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "also end processes that serve other sessions, and kill those that do not end", Destination: &o.force},
			DurationFlag("timeout", "how long an agent may take to end: `D`", &o.timeout),
			&cli.BoolFlag{Name: "all", Usage: "select every live session; asks first", Destination: &o.all},
			&cli.BoolFlag{Name: "orphans", Usage: "end the processes that stopped sessions left behind (list --orphans); asks first", Destination: &o.orphans},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask", Destination: &o.yes},
		}, o.scope.Flags("select"), []cli.Flag{
			DurationFlag("idle-for", "select sessions that have been idle for `D` or longer", &o.idleFor),
			DurationFlag("older-than", "select sessions whose process has run for `D` or longer", &o.olderThan),
			AdapterFlag(&o.AdapterNames),
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be done", Destination: &o.dryRun},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but errors", Destination: &o.Quiet},
			JSONFlag(&o.JSON),
		}),
		CustomHelpTemplate: HelpTemplate("agentctl stop 88d1d394", "agentctl stop --repo . --dry-run", "agentctl stop --idle-for 2h --quiet"),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if err := o.check(args, f.Terminal && !f.OnHosts(args...)); err != nil {
				return err
			}
			return runStop(c.Context, f, args, o)
		},
	}
}

// check refuses flags that do not go together, whatever sessions live now: a script that cannot be asked fails the
// first time it runs.
func (o *stopOptions) check(args []string, terminal bool) error {
	selects := o.stopSelection != stopSelection{}
	switch {
	case o.orphans && (len(args) > 0 || selects):
		return UsageError("stop", "--orphans takes no IDs and no selection but --adapter")
	case len(args) > 0 && selects:
		return UsageError("stop", "IDs and a selection cannot be used together")
	case len(args) == 0 && !selects && !o.orphans:
		return UsageError("stop", "stop needs the ID of a session, or a selection: --cwd, --repo, --idle-for, --older-than, --group, --all, --orphans")
	case o.Quiet && o.JSON:
		return UsageError("stop", "--quiet and --json cannot be used together")
	case (o.all || o.orphans) && !o.yes && !o.dryRun && (o.JSON || !terminal):
		return UsageError("stop", "--all and --orphans need --yes when not on a terminal, and with --json")
	}
	return nil
}

func runStop(ctx context.Context, f Factory, args []string, o *stopOptions) error {
	c, err := f.NewCall("stop", &o.CommonFlags, nil)
	if err != nil {
		return err
	}
	calls, err := c.Calls(args, nil, false)
	if err != nil {
		return err
	}
	ctx, end := Interruptible(ctx) // until the results are printed: a signal between two steps would be lost
	defer end()
	p := stopPrinter{Call: c, results: []object.StopResult{}}
	var failed error
	switch {
	case calls != nil: // each host stops its own, by its own check of their identity
		endProgress := c.ProgressOf(AskingHosts("stopping on", calls))
		if failed = findOnHosts(ctx, f, calls, args); failed == nil {
			failed = EachHost(ctx, f, calls, p.print)
		}
		endProgress()
	case o.orphans:
		failed, err = p.endOrphans(ctx, o)
	default:
		failed, err = p.stopSessions(ctx, args, o)
	}
	if err != nil {
		return err
	}
	if c.JSON {
		if err := render.JSONArray(c.Stdout, p.results); err != nil {
			return err
		}
	}
	return failed
}

// findOnHosts returns the error of an argument that means no session, or several, on one of several hosts: then nothing is stopped on any.
func findOnHosts(ctx context.Context, f Factory, calls []HostCall, args []string) error {
	if len(calls) < 2 || len(args) == 0 {
		return nil
	}
	planned := make([]HostCall, len(calls))
	for i, call := range calls {
		planned[i] = call.Without("dry-run").With("--dry-run")
	}
	failed := EachHost(ctx, f.WithReports(func(string) {}), planned, func(object.StopResult) error { return nil })
	if code := ExitCode(failed); code == ExitNotFound || code == ExitAmbiguous || code == ExitInterrupted {
		return failed
	}
	return nil
}

// nothingStopped is the error after a no.
const nothingStopped = "nothing was stopped"

// stopSessions stops the sessions of the arguments or the selection. An err has stopped none.
func (p *stopPrinter) stopSessions(ctx context.Context, args []string, o *stopOptions) (failed, err error) {
	chosen, partial, err := stopFindSessions(ctx, p.Call, args, o)
	if err != nil {
		return nil, err
	}
	if len(chosen) == 0 && !p.Quiet && !p.JSON {
		p.Report.Note("no live session matches")
	}
	if o.all && !o.yes && !o.dryRun && len(chosen) > 0 {
		err := p.Confirm(ctx, "stop these?", nothingStopped, func(w io.Writer) error {
			return render.SessionTable(w, SessionObjects(chosen), p.Style)
		})
		if err != nil {
			return nil, err
		}
	}
	return p.end(ctx, func() (results []stop.Result, unread, err error) {
		results, err = stop.Sessions(ctx, p.Scanner, chosen, o.stopOptions(p.Factory))
		return results, partial, err
	})
}

// endOrphans ends what stopped sessions have left behind.
func (p *stopPrinter) endOrphans(ctx context.Context, o *stopOptions) (failed, err error) {
	if !o.yes && !o.dryRun {
		found, _, err := stop.FindOrphans(ctx, p.Scanner, p.PID, p.Agents)
		if err == nil && len(found) > 0 {
			err = p.Confirm(ctx, "end these?", nothingStopped, func(w io.Writer) error { return render.OrphanTable(w, OrphanObjects(found), p.Style) })
		}
		if err != nil {
			return nil, err
		}
	}
	failed, err = p.end(ctx, func() (results []stop.Result, partial, err error) {
		results, r, err := stop.EndOrphans(ctx, p.Scanner, o.stopOptions(p.Factory), p.Agents)
		if err == nil && len(results) == 0 && !p.Quiet && !p.JSON {
			p.Report.Note("no orphaned processes found")
		}
		return results, p.ReportWarnings(r.Warnings), err
	})
	return failed, err
}

// end ends processes and prints the results. partial is the error of warnings.
func (p *stopPrinter) end(ctx context.Context, end func() (results []stop.Result, partial, err error)) (failed, err error) {
	endProgress := p.Progress("stopping")
	results, partial, err := end()
	interrupted := ctx.Err()
	endProgress()
	if err != nil {
		return nil, err
	}
	for _, r := range results {
		if err := p.print(stopResultObject(r)); err != nil {
			return nil, err
		}
	}
	return cmp.Or(interrupted, StopError(results), partial), nil
}

// stopOptions says how to end processes.
func (o *stopOptions) stopOptions(f Factory) stop.Options {
	return stop.Options{
		Timeout: o.timeout, Force: o.force, DryRun: o.dryRun, SelfPID: f.PID, Host: launch.NewEnvironment(f.Environ, f.Adapters),
	}
}

// stopFindSessions finds the sessions to stop. If one of the arguments means none, no session is stopped. partial says that
// a selection may have missed some.
func stopFindSessions(ctx context.Context, c *Call, args []string, o *stopOptions) (chosen []discover.Session, partial, err error) {
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
