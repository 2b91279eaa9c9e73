package await

import (
	"context"
	"fmt"
	"strings"
	"time"

	"agentctl/discover"
	"agentctl/discover/watch"
	"agentctl/internal/cmdutil"
	"agentctl/launch"
)

// longestSleep is the longest time to the next look at the clock: the machine's sleep does not count for a timer.
const longestSleep = time.Minute

// UntilReset blocks until each limit that a session has reached is reset, and calls arrived for each session when that is so.
// One that has reached none is there at once. Errors: [launch.UnsupportedError] if the agent does not say when a limit is
// reset; else as of [Until], but those of last turns are none.
func UntilReset(
	ctx context.Context, c *cmdutil.Call, sessions []discover.Session, timeout time.Duration, arrived func(discover.Session) error,
) error {
	done := make([]bool, len(sessions))
	var missing []string
	watcher := watch.NewWatcher(c.Scanner, sessions)
	watcher.ReadQuotas()
	late, err := follow(ctx, c, watcher, timeout, arrived, func(r discover.Result, arrived func(discover.Session) error) (bool, error) {
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
				missing = append(missing, fmt.Sprintf("%s (in %s)", cmdutil.SessionName(s), at.Sub(now).Round(time.Second)))
				watcher.WakeIn(min(at.Sub(now), longestSleep))
			}
		}
		return len(missing) > 0, nil
	})
	if late {
		return cmdutil.TimeoutError("not reset in time: "+strings.Join(missing, ", "), "")
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
			err = &launch.UnsupportedError{Agent: s.Agent, What: fmt.Sprintf("does not say when the limit of %s is reset", cmdutil.SessionName(s))}
		case q.Resets.After(now) && q.Resets.After(at):
			at = q.Resets
		}
	}
	if !at.IsZero() {
		return at, nil // another limit may be known
	}
	return at, err
}
