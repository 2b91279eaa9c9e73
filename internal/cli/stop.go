package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"golang.org/x/sys/unix"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
	"agentctl/launch/stop"
)

type stopOptions struct {
	CommonFlags
	stopSelection
	stop.Options
	yes, orphans bool
}

func stopCommand(env Env) *cli.Command {
	o := &stopOptions{Options: stop.Options{Timeout: StopTimeout}}
	return &cli.Command{
		Usage:     "stop sessions, with the tools that they run",
		UsageText: "agentctl stop [FLAGS] ID…\nagentctl stop [FLAGS] --cwd DIR | --repo DIR | --idle-for D | --older-than D | --group G | --all\nagentctl stop [FLAGS] --orphans",
		Description: "Without an ID, stop ends the live sessions that match all selection flags, and asks first. A selection never\n" +
			"contains the session that stop is called from, sub-agents' sessions or other users' sessions.",
		ArgsUsage: "ID…",
		Flags: slices.Concat([]cli.Flag{
			&cli.BoolFlag{Name: "force", Usage: "also end processes that serve other sessions, and kill those that do not end", Destination: &o.Force},
			DurationFlag("timeout", "how long an agent may take to end: `D`", &o.Timeout),
			&cli.BoolFlag{Name: "all", Usage: "select every live session", Destination: &o.all},
			&cli.BoolFlag{Name: "orphans", Usage: "end the processes that stopped sessions left behind (list --orphans)", Destination: &o.orphans},
			&cli.BoolFlag{Name: "yes", Usage: "do not ask; needed for a selection where stdin or stdout is not a terminal", Destination: &o.yes},
		}, o.scope.Flags("select"), []cli.Flag{
			DurationFlag("idle-for", "select sessions that have been idle for `D` or longer", &o.idleFor),
			DurationFlag("older-than", "select sessions whose process has run for `D` or longer", &o.olderThan),
			AdapterFlag(&o.AdapterNames),
			&cli.BoolFlag{Name: "dry-run", Usage: "only say what would be done", Destination: &o.DryRun},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but errors", Destination: &o.Quiet},
			JSONFlag(&o.JSON),
		}),
		CustomHelpTemplate: HelpTemplate("agentctl stop 88d1d394", "agentctl stop --repo . --dry-run", "agentctl stop --idle-for 2h --yes --quiet"),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if err := o.check(args, env.Terminal && !env.OnHosts(args...)); err != nil {
				return err
			}
			return runStop(c.Context, env, args, o)
		},
	}
}

// check refuses flags that do not go together, whatever sessions live now: a script that cannot be asked fails the
// first time it runs.
func (s *stopOptions) check(args []string, terminal bool) error {
	selects := s.stopSelection != stopSelection{}
	switch {
	case s.orphans && (len(args) > 0 || selects):
		return UsageError("stop", "--orphans takes no IDs and no selection but --adapter")
	case len(args) > 0 && selects:
		return UsageError("stop", "IDs and a selection cannot be used together")
	case len(args) == 0 && !selects && !s.orphans:
		return UsageError("stop", "stop needs the ID of a session, or a selection: --cwd, --repo, --idle-for, --older-than, --group, --all, --orphans")
	case s.Quiet && s.JSON:
		return UsageError("stop", "--quiet and --json cannot be used together")
	case (selects || s.orphans) && !s.yes && !s.DryRun && (s.JSON || !terminal):
		return UsageError("stop", "a selection needs --yes when not on a terminal, and with --json; --dry-run shows what it would stop")
	}
	return nil
}

func runStop(ctx context.Context, env Env, args []string, o *stopOptions) error {
	c, calls, err := env.NewHostCall("stop", &o.CommonFlags, nil, args)
	if err != nil {
		return err
	}
	ctx, end := Interruptible(ctx) // until the results are printed: a signal between two steps would be lost
	defer end()
	if err := findOnHosts(ctx, env, calls, args); err != nil {
		return err
	}
	o.Host = launch.NewEnvironment(env.Environ, env.Adapters)
	return Results(ctx, c, calls, "stopping on", func(ctx context.Context, take func(object.StopResult) error) error {
		do := stopSessions
		if o.orphans {
			do = endOrphans
		}
		results, partial, err := do(ctx, c, args, o)
		if err != nil {
			return err
		}
		interrupted := ctx.Err()
		for _, r := range results {
			if err := take(stopResultObject(r)); err != nil {
				return err
			}
		}
		return cmp.Or(interrupted, StopError(results), partial)
	}, stopText)
}

// findOnHosts returns the error of an argument that means no session, or several, on one of several hosts: then nothing is stopped on any.
func findOnHosts(ctx context.Context, env Env, calls []HostCall, args []string) error {
	if len(calls) < 2 || len(args) == 0 {
		return nil
	}
	failed := EachHost(ctx, env.WithReports(func(string) {}), withFlag(calls, "dry-run"), func(object.StopResult) error { return nil })
	if code := ExitCode(failed); code == ExitNotFound || code == ExitAmbiguous || code == ExitInterrupted {
		return failed
	}
	return nil
}

// nothingStopped is the error after a no.
const nothingStopped = "nothing was stopped"

// stopSessions stops the sessions of the arguments or the selection. partial says that a selection may have missed some.
func stopSessions(ctx context.Context, c *Call, args []string, o *stopOptions) (results []stop.Result, partial, err error) {
	endProgress := c.Progress("looking for the sessions")
	chosen, partial, err := c.Choose(ctx, "stop", args, o.scope, false, func(s discover.Session) bool { return o.matches(s, c.Now()) })
	endProgress()
	if missing := (*discover.NotFoundError)(nil); errors.As(err, &missing) && missing.Arg == "all" {
		err = &Failure{errorNamed("not_found"), err.Error(), "did you mean " + Program + " stop --all?", nil}
	}
	if err != nil {
		return nil, nil, err
	}
	if len(chosen) == 0 && !c.Quiet && !c.JSON {
		c.Report.Note("no live session matches")
	}
	if len(args) == 0 && !o.yes && !o.DryRun && len(chosen) > 0 {
		err := c.Confirm(ctx, "stop these?", nothingStopped, func(w io.Writer) error {
			return render.SessionTable(w, SessionObjects(chosen), c.Style)
		})
		if err != nil {
			return nil, nil, err
		}
	}
	defer c.Progress("stopping")()
	results, err = stop.Sessions(ctx, c.Scanner, chosen, o.Options)
	return results, partial, err
}

// endOrphans ends what stopped sessions have left behind. partial says that some may not have been found.
func endOrphans(ctx context.Context, c *Call, _ []string, o *stopOptions) (results []stop.Result, partial, err error) {
	if !o.yes && !o.DryRun {
		found, _, err := stop.FindOrphans(ctx, c.Scanner, c.Agents)
		if err == nil && len(found) > 0 {
			err = c.Confirm(ctx, "end these?", nothingStopped, func(w io.Writer) error { return render.OrphanTable(w, OrphanObjects(found), c.Style) })
		}
		if err != nil {
			return nil, nil, err
		}
	}
	defer c.Progress("stopping")()
	results, r, err := stop.EndOrphans(ctx, c.Scanner, o.Options, c.Agents)
	if err != nil {
		return nil, nil, err
	}
	if len(results) == 0 && !c.Quiet && !c.JSON {
		c.Report.Note("no orphaned processes found")
	}
	return results, c.ReportWarnings(r.Warnings), nil
}

// stopSelection has the flags that select sessions instead of IDs; a session must match all of them.
type stopSelection struct {
	all                bool
	scope              Scope
	idleFor, olderThan time.Duration
}

// matches checks the conditions on time. The idle time counts from the last activity, the age from the start of the
// process: the session may have been resumed.
func (ss *stopSelection) matches(s discover.Session, now time.Time) bool {
	if ss.idleFor > 0 && (s.Status != discover.Idle || (s.LastActivity().IsZero() || now.Sub(s.LastActivity()) < ss.idleFor)) {
		return false
	}
	if ss.olderThan == 0 {
		return true
	}
	began := s.Created
	if at := s.ProcessStarted(); !at.IsZero() {
		began = at
	}
	return !began.IsZero() && now.Sub(began) >= ss.olderThan
}

// stopText returns the name of the session, and what became of it.
func stopText(r *object.StopResult) (name, words string) {
	outcomes := map[stop.Outcome]string{stop.AlreadyStopped: "already stopped", stop.Running: "still running", stop.Planned: "would be stopped"}
	words = cmp.Or(outcomes[stop.Outcome(r.Result)], r.Result)
	if details := stopDetails(r); len(details) > 0 {
		words += " (" + strings.Join(details, "; ") + ")"
	}
	return object.SessionName(r.Host, r.ID, r.PID), words
}

func stopResultObject(r stop.Result) object.StopResult {
	before := object.NewSession(r.Before)
	out := object.StopResult{
		ID: before.ID, PID: before.PID, Adapter: before.Adapter, StatusBefore: before.Status, Result: string(r.Outcome), Message: r.Message, Request: string(r.Request),
		Signalled: []object.Signal{}, Survived: []int{},
	}
	if r.After != nil {
		out.Session = new(object.NewSession(*r.After))
	}
	for _, s := range r.Signalled {
		out.Signalled = append(out.Signalled, object.Signal{PID: s.Process.PID, Signal: unix.SignalName(s.Signal), Role: string(s.Role)})
	}
	for _, p := range r.Survived {
		out.Survived = append(out.Survived, p.PID)
	}
	for _, p := range r.LeftBehind {
		out.LeftBehind = append(out.LeftBehind, p.PID)
	}
	return out
}

// stopDetails describe the status before, a request in vain, the signals, and the message of a result.
func stopDetails(r *object.StopResult) []string {
	var out []string
	outcome := stop.Outcome(r.Result)
	switch {
	case r.StatusBefore == "" || r.StatusBefore == string(discover.Stopped):
	case outcome == stop.Planned, outcome == stop.Refused:
		out = append(out, r.StatusBefore)
	default:
		out = append(out, "was "+r.StatusBefore)
	}
	switch request := stop.Request(r.Request); { // unless the message says it
	case request == stop.RequestUnanswered && outcome != stop.Running:
		out = append(out, "the agent did not answer the request to end it")
	case request == stop.RequestFailed && outcome != stop.Refused && outcome != stop.Failed:
		out = append(out, "the agent did not accept the request to end it")
	}
	ended := map[int]bool{}
	for _, s := range r.Signalled {
		switch {
		case s.Role != string(stop.RoleTool):
			out = append(out, fmt.Sprintf("%s to pid %d", s.Signal, s.PID))
		case !slices.Contains(r.Survived, s.PID):
			ended[s.PID] = true
		}
	}
	if len(ended) > 0 {
		out = append(out, plural(len(ended), "tool")+" ended")
	}
	var left []string
	for _, pid := range r.LeftBehind {
		if ended[pid] {
			left = append(left, fmt.Sprintf("pid %d", pid))
		}
	}
	if len(left) > 0 {
		out = append(out, "left behind before the session was resumed: "+strings.Join(left, ", "))
	}
	if r.Message != "" {
		out = append(out, r.Message)
	}
	return out
}

// StopTimeout is how long an agent may take to end: several times what the slowest takes with a tool running.
const StopTimeout = 10 * time.Second

// StopError returns the error of the results: a failure if a session still runs, else a conflict if one was refused.
func StopError(results []stop.Result) error {
	var failed, refused []string
	for _, r := range results {
		switch r.Outcome {
		case stop.Running:
			failed = append(failed, fmt.Sprintf("%s is still running: %s", DescribeSession(r.Before), r.Message))
		case stop.Failed:
			failed = append(failed, fmt.Sprintf("%s: %s", DescribeSession(r.Before), r.Message))
		case stop.Refused:
			refused = append(refused, fmt.Sprintf("%s: %s", DescribeSession(r.Before), r.Message))
		}
	}
	switch {
	case len(failed) > 0:
		return errors.New(strings.Join(slices.Concat(failed, refused), "; "))
	case len(refused) > 0:
		return ConflictError(strings.Join(refused, "; "), "")
	}
	return nil
}
