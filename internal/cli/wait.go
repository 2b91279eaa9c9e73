// Package wait is the command wait.
package cli

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/internal/object"
	"agentctl/internal/render"
)

type waitOptions struct {
	CommonFlags
	scope   Scope
	until   string
	timeout time.Duration
}

func waitCommand(f Factory) *cli.Command {
	o := &waitOptions{}
	return &cli.Command{
		Usage:     "wait until sessions have stopped, or until their turns are over",
		UsageText: "agentctl wait [FLAGS] ID…\nagentctl wait [FLAGS] --cwd DIR | --repo DIR | --group G",
		Description: "wait prints each session when it reaches the state. Exit 0: all have reached it, and their last turns ended\n" +
			"well; 1: a last turn failed or was cut; 6: the result of a turn is not known; 124: timeout.",
		ArgsUsage: "ID…",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "until", Usage: "wait for this `STATE`: stopped, idle (or stopped), waiting (or idle or stopped), any-change, reset (of the limits that it has reached)", Value: string(Stopped), Destination: &o.until},
			LimitFlag("timeout", "wait at most `D`; 0 is no limit", &o.timeout),
			AdapterFlag(&o.AdapterNames),
		}, o.scope.Flags("select"), []cli.Flag{
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but errors", Destination: &o.Quiet},
			FormatFlag(&o.Format, SessionTemplate),
			JSONFlag(&o.JSON),
		}),
		CustomHelpTemplate: HelpTemplate("agentctl wait 88d1d394", "agentctl wait --until waiting --timeout 2h 88d1d394", "agentctl wait --group parser"),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			switch {
			case len(args) == 0 && o.scope == Scope{}:
				return UsageError("wait", "wait needs the ID of a session, or a selection: --cwd, --repo, --group")
			case len(args) > 0 && o.scope != Scope{}:
				return UsageError("wait", "IDs and a selection cannot be used together")
			case !slices.Contains(States(), o.until):
				return UnknownWord("state", o.until, States())
			}
			return runWait(c.Context, f, args, o)
		},
	}
}

func runWait(ctx context.Context, f Factory, args []string, o *waitOptions) error {
	c, err := f.NewCall("wait", &o.CommonFlags, object.Session{})
	if err != nil {
		return err
	}
	calls, err := c.Calls(args, nil, false)
	if err != nil {
		return err
	}
	ctx, stop := Interruptible(ctx) // over all steps: a signal between two of them would be lost
	defer stop()
	if calls != nil {
		defer c.ProgressOf(AskingHosts("waiting for sessions on", calls))()
		return EachHost(ctx, c.Factory, calls, func(s object.Session) error {
			defer c.Report.Pause()()
			return printArrival(c, s)
		})
	}
	arrived := func(s discover.Session) error { return printArrival(c, object.NewSession(s)) }
	began := time.Now()
	endProgress := f.Progress("looking for the sessions")
	found, err := waitFindSessions(ctx, c, args, o)
	endProgress()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = f.ReportWarnings(found.Warnings) // they may be why
		return err
	}
	if len(found.Sessions) == 0 {
		if !o.Quiet {
			f.Report.Note("no live session matches")
		}
		return f.ReportWarnings(found.Warnings)
	}
	timeout := o.timeout
	if timeout > 0 {
		timeout = max(timeout-time.Since(began), 1)
	}
	if State(o.until) == Reset {
		return UntilReset(ctx, c, found.Sessions, timeout, arrived)
	}
	return Until(ctx, c, found.Sessions, State(o.until), timeout, arrived)
}

// waitFindSessions finds the sessions of the arguments or the selection. A selection has live sessions only, without
// sub-agents and those that the command runs inside; one by group has stopped sessions too, as far as storage shows
// their group.
func waitFindSessions(ctx context.Context, c *Call, args []string, o *waitOptions) (discover.Result, error) {
	if len(args) > 0 {
		return c.FindAll(ctx, args)
	}
	grouped := o.scope.Group != ""
	r, err := c.Selected(ctx, "wait", o.scope, grouped)
	if err == nil && grouped && len(r.Sessions) == 0 {
		err = fmt.Errorf("%w in group %q", discover.ErrNotFound, o.scope.Group)
	}
	return r, err
}

// printArrival prints a session that has reached the state.
func printArrival(c *Call, s object.Session) error {
	switch {
	case c.Quiet:
		return nil
	case c.JSON:
		return render.JSONLine(c.Stdout, s)
	case c.Template != nil:
		return c.Template(c.Stdout, s)
	}
	words := []string{render.Sanitize(s.Name()), s.Status}
	switch {
	case s.Outcome != "":
		words = append(words, s.Outcome)
	case s.WaitingFor != "":
		words = append(words, render.Sanitize(s.WaitingFor))
	case s.Error != "":
		words = append(words, string(discover.Failed))
	}
	_, err := io.WriteString(c.Stdout, strings.Join(words, "  ")+"\n")
	return err
}
