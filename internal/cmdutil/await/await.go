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
	working, stop := cmdutil.Interruptible(ctx)
	defer stop()
	limited, cancel := context.WithCancelCause(working)
	defer cancel(nil)
	endProgress := c.Progress("waiting")
	defer func() { endProgress() }()
	w := NewWaiter(u, len(sessions), func(s discover.Session) error {
		endProgress()
		defer func() { endProgress = c.Progress("waiting") }()
		return arrived(s)
	})
	var alarm *time.Timer
	err := cmdutil.EachResult(limited, watch.NewWatcher(c.Scanner, sessions), func(r discover.Result) (bool, error) {
		_ = c.ReportWarnings(r.Warnings) // it may still be read
		if alarm == nil && timeout > 0 {
			alarm = time.AfterFunc(timeout, func() { cancel(errTimeout) })
		}
		return w.Update(r.Sessions)
	})
	if alarm != nil {
		alarm.Stop()
	}
	endProgress()
	switch {
	case working.Err() != nil:
		return working.Err()
	case timedOut(limited, err):
		return cmdutil.TimeoutError(fmt.Sprintf("not %s in time: %s", u.done(), w.missing()), "")
	case err != nil:
		return err
	}
	return Conclude(c.Factory, w)
}

// errTimeout is the cause of the context after the timeout.
var errTimeout = errors.New("time is up")

// timedOut reports whether err is that of the context, which the timeout has canceled.
func timedOut(limited context.Context, err error) bool {
	return errors.Is(err, context.Canceled) && errors.Is(context.Cause(limited), errTimeout)
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
