package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/output"
)

type waitOptions struct {
	common
	scope   scope
	until   string
	timeout time.Duration
}

func newWait(env Env) *cli.Command {
	o := &waitOptions{}
	return &cli.Command{
		Usage:     "wait until sessions have stopped, or until their turns are over",
		UsageText: "agentctl wait [FLAGS] ID…\nagentctl wait [FLAGS] --cwd DIR | --repo DIR | --group G",
		Description: "wait prints each session when it reaches the state. Exit 0: all have reached it, and their last turns ended\n" +
			"well; 1: a last turn failed or was cut; 6: how one ended is not known; 124: timeout.",
		ArgsUsage: "ID…",
		Flags: slices.Concat([]cli.Flag{
			&cli.StringFlag{Name: "until", Usage: "wait for this `STATE`: stopped, idle (or stopped), waiting (or idle or stopped), any-change", Value: string(untilStopped), Destination: &o.until},
			limitFlag("timeout", "wait at most `D`; 0 is no limit", &o.timeout),
			adapterFlag(&o.adapters),
		}, o.scope.flags("select"), []cli.Flag{
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "print nothing but errors", Destination: &o.quiet},
			formatFlag(&o.format, sessionTemplate),
			jsonFlag(&o.json),
		}),
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			switch {
			case len(args) == 0 && o.scope == scope{}:
				return badUsage("wait", "wait needs the ID of a session, or a selection: --cwd, --repo, --group")
			case len(args) > 0 && o.scope != scope{}:
				return badUsage("wait", "IDs and a selection cannot be used together")
			case !slices.Contains(untils(), o.until):
				return unknown("state", o.until, untils())
			}
			return env.wait(c.Context, args, o)
		},
	}
}

func (env Env) wait(ctx context.Context, args []string, o *waitOptions) error {
	c, err := env.call("wait", &o.common, output.Session{})
	if err != nil {
		return err
	}
	ctx, stop := interruptible(ctx) // over all steps: a signal between two of them would be lost
	defer stop()
	began := time.Now()
	quiet := env.progress("looking for the sessions")
	found, err := c.toWaitFor(ctx, args, o)
	quiet()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = env.warn(found.Warnings) // they may be why
		return err
	}
	if len(found.Sessions) == 0 {
		if !o.quiet {
			env.report.note("no live session matches")
		}
		return env.warn(found.Warnings)
	}
	timeout := o.timeout
	if timeout > 0 {
		timeout = max(timeout-time.Since(began), 1)
	}
	return c.await(ctx, found.Sessions, until(o.until), timeout, func(s discover.Session) error { return c.printArrival(s, o) })
}

// toWaitFor finds the sessions that the arguments or the selection name: of a selection the live ones but for sub-agents and
// those that the command runs inside of; of a group those too that have stopped, as far as storage shows that they are of it.
func (c *call) toWaitFor(ctx context.Context, args []string, o *waitOptions) (discover.Result, error) {
	if len(args) > 0 {
		return c.findAll(ctx, args)
	}
	grouped := o.scope.group != ""
	r, err := c.selected(ctx, "wait", o.scope, grouped)
	if err == nil && grouped && len(r.Sessions) == 0 {
		err = fmt.Errorf("%w in group %q", discover.ErrNotFound, o.scope.group)
	}
	return r, err
}

// await blocks until each of the sessions was there once, and calls arrived for each that is. A timeout of 0 is none; the
// sessions are looked at once whatever it is. Errors: [late]; how the turns ended, [errPartial] where the end of a turn
// cannot be told, those of arrived, and the context's.
func (c *call) await(
	ctx context.Context, sessions []discover.Session, u until, timeout time.Duration, arrived func(discover.Session) error,
) error {
	working, stop := interruptible(ctx)
	defer stop()
	limited, cancel := context.WithCancelCause(working)
	defer cancel(nil)
	quiet := c.progress("waiting")
	defer func() { quiet() }()
	w := newWaiting(u, len(sessions), func(s discover.Session) error {
		quiet()
		defer func() { quiet = c.progress("waiting") }()
		return arrived(s)
	})
	var alarm *time.Timer
	err := each(limited, watch.NewWatcher(c.world, sessions), func(r discover.Result) (bool, error) {
		_ = c.warn(r.Warnings) // it may still be read
		if alarm == nil && timeout > 0 {
			alarm = time.AfterFunc(timeout, func() { cancel(errLate) })
		}
		return w.see(r.Sessions)
	})
	if alarm != nil {
		alarm.Stop()
	}
	quiet()
	switch {
	case working.Err() != nil:
		return working.Err()
	case err != nil && errors.Is(context.Cause(limited), errLate):
		return late(fmt.Sprintf("not %s in time: %s", u.met(), w.absent()), "")
	case err != nil:
		return err
	}
	return c.conclude(w)
}

// each calls do with each result of a watcher until it wants no more, and closes the watcher.
func each(ctx context.Context, w *watch.Watcher, do func(discover.Result) (more bool, err error)) error {
	defer w.Close()
	for {
		r, err := w.Next(ctx)
		if err != nil {
			return err
		}
		if more, err := do(r); err != nil || !more {
			return err
		}
	}
}

// errLate: time is up.
var errLate = errors.New("time is up")

// met is the state in the words of an error.
func (u until) met() string {
	if u == untilChange {
		return "changed"
	}
	return string(u)
}

// conclude is the error that sessions leave by how their turns ended.
func (env Env) conclude(w *waiting) error {
	unknown, err := w.verdict()
	if len(unknown) > 0 {
		env.warning("cannot tell how the last turn ended: " + strings.Join(unknown, ", "))
		if err == nil {
			err = errPartial
		}
	}
	return err
}

func (c *call) printArrival(s discover.Session, o *waitOptions) error {
	switch {
	case o.quiet:
		return nil
	case o.json:
		return output.JSONLine(c.Stdout, output.NewSession(s))
	case c.template != nil:
		return c.template(c.Stdout, output.NewSession(s))
	}
	words := []string{output.Sanitize(idOf(s)), string(s.Status)}
	switch {
	case s.Outcome != "":
		words = append(words, string(s.Outcome))
	case s.WaitingFor != "":
		words = append(words, output.Sanitize(s.WaitingFor))
	case s.Error != "":
		words = append(words, string(discover.Failed))
	}
	_, err := io.WriteString(c.Stdout, strings.Join(words, "  ")+"\n")
	return err
}
