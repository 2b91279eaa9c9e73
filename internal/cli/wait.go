package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/object"
	"agentctl/internal/render"
	"agentctl/launch"
)

type waitOptions struct {
	CommonFlags
	scope   Scope
	until   string
	timeout time.Duration
}

func waitCommand(env Env) *cli.Command {
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
			FormatFlag(&o.Format),
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
			return runWait(c.Context, env, args, o)
		},
	}
}

func runWait(ctx context.Context, env Env, args []string, o *waitOptions) error {
	c, calls, err := env.NewHostCall("wait", &o.CommonFlags, object.Session{}, args)
	if err != nil {
		return err
	}
	return Each(ctx, c, calls, "waiting for sessions on", func(ctx context.Context, take func(object.Session) error) error {
		return waitLocal(ctx, c, args, o, func(s discover.Session) error { return take(object.NewSession(s)) })
	}, func(s object.Session) error { return printArrival(c, s) })
}

func waitLocal(ctx context.Context, c *Call, args []string, o *waitOptions, arrived func(discover.Session) error) error {
	began := time.Now()
	endProgress := c.Progress("looking for the sessions")
	found, err := findAwaited(ctx, c, args, o)
	endProgress()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	if err != nil {
		_ = c.ReportWarnings(found.Warnings) // they may be why
		return err
	}
	if len(found.Sessions) == 0 {
		if !o.Quiet {
			c.Report.Note("no live session matches")
		}
		return c.ReportWarnings(found.Warnings)
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

// findAwaited finds the sessions of the arguments or the selection. A selection has live sessions only, without
// sub-agents and those that the command runs inside; one by group has stopped sessions too, as far as storage shows
// their group.
func findAwaited(ctx context.Context, c *Call, args []string, o *waitOptions) (discover.Result, error) {
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

func printArrival(c *Call, s object.Session) error {
	return PrintObject(c, s, func() error {
		detail := cmp.Or(s.Outcome, render.Sanitize(s.WaitingFor))
		if detail == "" && s.Error != "" {
			detail = string(discover.Failed)
		}
		_, err := fmt.Fprintln(c.Stdout, strings.TrimRight(render.Sanitize(s.Name())+"  "+s.Status+"  "+detail, " "))
		return err
	})
}

// State is the state that sessions are awaited in.
type State string

const (
	Stopped   State = "stopped"    // its process has ended, serves it no longer, or only keeps it open ([discover.Session.Released])
	Idle      State = "idle"       // the turn is over
	Waiting   State = "waiting"    // the user is needed: asked something, or the turn is over
	AnyChange State = "any-change" // whatever makes an event of it
	Reset     State = "reset"      // the limits that it has reached are reset: see [UntilReset]
)

// States are the words that --until takes.
func States() []string {
	return []string{string(Stopped), string(Idle), string(Waiting), string(AnyChange), string(Reset)}
}

// Until blocks until each session has reached the state once, and calls arrived for each that does. A timeout of 0 is
// none; the sessions are checked once in any case. Errors: [TimeoutError]; the error of a last turn,
// [ErrPartial] if its end is not known; those of arrived and of the context.
func Until(
	ctx context.Context, c *Call, sessions []discover.Session, u State, timeout time.Duration, arrived func(discover.Session) error,
) error {
	w := NewWaiter(u, len(sessions), arrived)
	late, err := followUntil(ctx, c, watch.NewWatcher(c.Scanner, sessions), timeout, func(r discover.Result) (bool, error) { return w.Update(r.Sessions) })
	switch {
	case late:
		done := string(u)
		if u == AnyChange {
			done = "changed"
		}
		return TimeoutError(fmt.Sprintf("not %s in time: %s", done, w.missing()), "")
	case err != nil:
		return err
	}
	return w.Conclude(c.Env)
}

// errTimeout is the cause of the context after the timeout.
var errTimeout = errors.New("time is up")

// followUntil calls step with each result of a watcher until step reports that nothing is left to wait for. late: the timeout was over before.
func followUntil(
	ctx context.Context, c *Call, watcher *watch.Watcher, timeout time.Duration, step func(discover.Result) (more bool, err error),
) (late bool, err error) {
	working, stop := Interruptible(ctx)
	defer stop()
	limited, cancel := context.WithCancelCause(working)
	defer cancel(nil)
	defer c.Progress("waiting")()
	var alarm *time.Timer
	err = EachResult(limited, watcher, func(r discover.Result) (bool, error) {
		_ = c.ReportWarnings(r.Warnings) // it may still be read
		if alarm == nil && timeout > 0 {
			alarm = time.AfterFunc(timeout, func() { cancel(errTimeout) })
		}
		return step(r)
	})
	if alarm != nil {
		alarm.Stop()
	}
	switch {
	case working.Err() != nil:
		return false, working.Err()
	case errors.Is(err, context.Canceled) && errors.Is(context.Cause(limited), errTimeout):
		return true, nil
	}
	return false, err
}

// longestSleep bounds the time between two looks at the clock: timers stand still while the machine sleeps.
const longestSleep = time.Minute

// UntilReset blocks until each limit that a session has reached is reset, and calls arrived for each session when that is so.
// A session that has reached none arrives at once. Errors: [launch.UnsupportedError] if the agent does not say when a limit is
// reset; else as of [Until], but those of last turns are none.
func UntilReset(
	ctx context.Context, c *Call, sessions []discover.Session, timeout time.Duration, arrived func(discover.Session) error,
) error {
	done := make([]bool, len(sessions))
	var missing []string
	watcher := watch.NewWatcher(c.Scanner, sessions)
	watcher.ReadQuotas()
	late, err := followUntil(ctx, c, watcher, timeout, func(r discover.Result) (bool, error) {
		now := c.Now()
		missing = missing[:0]
		for i, s := range r.Sessions {
			at, err := reachedUntil(s, now)
			switch {
			case done[i]:
			case err != nil:
				return false, err
			case at.IsZero():
				done[i] = true
				if err := arrived(s); err != nil {
					return false, err
				}
			default:
				missing = append(missing, fmt.Sprintf("%s (in %s)", SessionName(s), at.Sub(now).Round(time.Second)))
				watcher.WakeIn(min(at.Sub(now), longestSleep))
			}
		}
		return len(missing) > 0, nil
	})
	if late {
		return TimeoutError("not reset in time: "+strings.Join(missing, ", "), "")
	}
	return err
}

// reachedUntil returns when the last of the limits that a session has reached is reset; zero if there is none, or a turn that
// began since has ended well.
func reachedUntil(s discover.Session, now time.Time) (at time.Time, err error) {
	for _, q := range s.Quotas {
		const all = 100 // percent
		reached := q.Reached || q.Used != nil && *q.Used >= all
		answered := s.Turn.State == discover.TurnDone && s.Turn.Began.After(q.Time)
		switch {
		case !reached || answered:
		case q.Resets.IsZero():
			err = &launch.UnsupportedError{Agent: s.Agent, What: fmt.Sprintf("does not say when the limit of %s is reset", SessionName(s))}
		case q.Resets.After(now) && q.Resets.After(at):
			at = q.Resets
		}
	}
	if !at.IsZero() {
		err = nil // another limit may be known
	}
	return at, err
}

// Waiter waits for several sessions: each has to reach the state once, in any order.
type Waiter struct {
	until    State
	sessions []awaited
	// reached is called once for each session that has reached the state.
	reached func(discover.Session) error
}

type awaited struct {
	first discover.Session // as it was at first
	now   discover.Session // as last seen, or as it was when it got there
	done  bool
	idle  time.Time // when it was first seen idle, though not in the storage
}

// NewWaiter waits for n sessions; reached is called once for each that has reached the state.
func NewWaiter(u State, n int, arrived func(discover.Session) error) *Waiter {
	return &Waiter{until: u, sessions: make([]awaited, n), reached: arrived}
}

// Update takes the sessions' current state, and reports whether one is still to be waited for.
func (w *Waiter) Update(sessions []discover.Session) (more bool, err error) {
	for i, s := range sessions {
		a := &w.sessions[i]
		if a.first.Record == nil {
			a.first = s
		}
		if a.done {
			continue
		}
		a.now = s
		if a.done = a.reached(w.until); !a.done {
			more = true
		} else if err := w.reached(s); err != nil {
			return false, err
		}
	}
	return more, nil
}

func (a *awaited) reached(u State) bool {
	switch {
	case u == AnyChange:
		return watch.Changed(a.now, a.first)
	case a.now.Status == discover.Stopped:
		return true
	case a.now.Status == discover.Waiting:
		return u == Waiting
	}
	return a.now.Status == discover.Idle && (u != Stopped || a.now.Released()) && a.turnOver()
}

// turnOver reports whether an idle session's turn has ended, as far as storage tells within watch.TurnEndDelay.
func (a *awaited) turnOver() bool {
	if !turnBegins(a.now) {
		return true
	}
	if a.idle.IsZero() {
		a.idle = time.Now()
	}
	return time.Since(a.idle) >= watch.TurnEndDelay
}

// missing names the sessions that have not reached the state.
func (w *Waiter) missing() string {
	var names []string
	for _, a := range w.sessions {
		if !a.done {
			names = append(names, fmt.Sprintf("%s (%s)", SessionName(a.now), a.now.Status))
		}
	}
	return strings.Join(names, ", ")
}

// Conclude returns the error of the sessions' last turns, nil if all that have ended ended well. It warns of those whose end is not known: if no
// other has ended badly, the error is [ErrPartial].
func (w *Waiter) Conclude(env Env) error {
	var bad, unknown []string
	for _, a := range w.sessions {
		s := a.now
		if w.until == AnyChange && turnBegins(s) {
			continue
		}
		switch ending, known := turnError(s); {
		case !known:
			unknown = append(unknown, SessionName(s))
		case ending != "":
			bad = append(bad, ending)
		}
	}
	if len(unknown) > 0 {
		env.Warn("cannot tell how the last turn ended: " + strings.Join(unknown, ", "))
	}
	switch {
	case len(bad) > 0:
		return errors.New(strings.Join(bad, "; "))
	case len(unknown) > 0:
		return ErrPartial
	}
	return nil
}

// turnBegins reports whether an idle session has a turn in progress in its storage: the agent stores the prompt before
// its process shows that it works (SEEN Claude Code 2.1.330 in a terminal, 5 ms in one turn), so that the turn has
// hardly been cut off.
func turnBegins(s discover.Session) bool {
	return s.Status == discover.Idle && (s.Turn.State == discover.TurnOpen || s.Turn.State == discover.TurnWaiting)
}

// turnError describes the error of a session's last turn, "" if there is none or the turn goes on.
func turnError(s discover.Session) (wrong string, known bool) {
	if s.Status != discover.Idle && s.Status != discover.Stopped {
		return "", true
	}
	switch state := s.Turn.State; {
	case s.Outcome == discover.Completed, s.Outcome == "" && state == discover.TurnDone, state == discover.TurnNone:
		return "", true
	case s.Error != "", s.Outcome == discover.Failed, state == discover.TurnFailed:
		return fmt.Sprintf("the last turn of %s failed: %s", SessionName(s), s.Error), true
	case s.Outcome == discover.OutcomeUnknown, state == discover.TurnUnknown:
		return "", false
	}
	if s.Status == discover.Idle {
		return fmt.Sprintf("the last turn of %s was cut; the session is live, and idle", SessionName(s)), true
	}
	return fmt.Sprintf("the last turn of %s was cut", SessionName(s)), true
}

// EachResult calls do with each result of a watcher until do returns false or an error, and closes the watcher.
func EachResult(ctx context.Context, w *watch.Watcher, do func(discover.Result) (more bool, err error)) error {
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
