// Package await waits until sessions have reached a state, and judges how their last turns ended.
package await

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/cmdutil"
)

// Until blocks until each session has reached the state once, and calls arrived for each that does. A timeout of 0 is
// none; the sessions are checked once in any case. Errors: [cmdutil.TimeoutError]; the error of a last turn,
// [cmdutil.ErrPartial] if its end is not known; those of arrived and of the context.
func Until(
	ctx context.Context, c *cmdutil.Call, sessions []discover.Session, u State, timeout time.Duration, arrived func(discover.Session) error,
) error {
	w := NewWaiter(u, len(sessions), nil)
	late, err := follow(ctx, c, watch.NewWatcher(c.Scanner, sessions), timeout, arrived, func(r discover.Result, arrived func(discover.Session) error) (bool, error) {
		w.reached = arrived
		return w.Update(r.Sessions)
	})
	switch {
	case late:
		return cmdutil.TimeoutError(fmt.Sprintf("not %s in time: %s", u.done(), w.missing()), "")
	case err != nil:
		return err
	}
	return Conclude(c.Factory, w)
}

// errTimeout is the cause of the context after the timeout.
var errTimeout = errors.New("time is up")

// follow calls step with each result of a watcher until step reports that nothing is left to wait for. late: the timeout was over
// before. What step calls arrived with is given to arrived while no progress is shown.
func follow(
	ctx context.Context, c *cmdutil.Call, watcher *watch.Watcher, timeout time.Duration, arrived func(discover.Session) error,
	step func(r discover.Result, arrived func(discover.Session) error) (more bool, err error),
) (late bool, err error) {
	working, stop := cmdutil.Interruptible(ctx)
	defer stop()
	limited, cancel := context.WithCancelCause(working)
	defer cancel(nil)
	endProgress := c.Progress("waiting")
	defer func() { endProgress() }()
	var alarm *time.Timer
	err = cmdutil.EachResult(limited, watcher, func(r discover.Result) (bool, error) {
		_ = c.ReportWarnings(r.Warnings) // it may still be read
		if alarm == nil && timeout > 0 {
			alarm = time.AfterFunc(timeout, func() { cancel(errTimeout) })
		}
		return step(r, func(s discover.Session) error {
			endProgress()
			defer func() { endProgress = c.Progress("waiting") }()
			return arrived(s)
		})
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

// done names the state in an error.
func (u State) done() string {
	if u == AnyChange {
		return "changed"
	}
	return string(u)
}

// Conclude returns the error of the sessions' last turns.
func Conclude(f cmdutil.Factory, w *Waiter) error {
	unknown, err := w.turnErrors()
	if len(unknown) > 0 {
		f.Warn("cannot tell how the last turn ended: " + strings.Join(unknown, ", "))
		if err == nil {
			err = cmdutil.ErrPartial
		}
	}
	return err
}
