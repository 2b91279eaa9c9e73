package cmdutil

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/lock"
)

// Activity is a snapshot of the live sessions, as the command that asks sees them.
type Activity struct {
	*Call
	discover.Result
	// encloses reports whether this command runs inside a session: that is no conflict.
	encloses func(discover.Session) bool
	// Signature is the owner of the locks that this command declares.
	Signature string
}

// Activity lists all live sessions, and agents' processes whose session is not known yet.
func (c *Call) Activity(ctx context.Context) (*Activity, error) {
	r, err := c.Scanner.List(ctx, discover.SessionFilter{Subagents: true})
	if err != nil {
		return nil, err
	}
	nearest := c.EnclosingSessions(r)
	return &Activity{c, r, c.Encloses(r, nearest), c.Signature(r, nearest)}, nil
}

// WarnIfBlind warns if the process table cannot be read, so that live sessions are unknown. It returns [ErrPartial] then.
func (a *Activity) WarnIfBlind() error {
	if !a.ProcessesUnknown {
		return nil
	}
	return a.ReportWarnings(a.Warnings)
}

// ConflictsAt returns the conflicts at a workspace; with strict an idle session is one.
func (a *Activity) ConflictsAt(place *lock.Workspace, strict bool) *lock.Conflicts {
	declared, err := lock.StoreFromEnv(a.Getenv).ForWorkspace(place, a.Now())
	if err != nil {
		a.Warn(err.Error())
	}
	return lock.FindConflicts(place, lock.ConflictQuery{
		Sessions: a.Sessions, Declared: declared, Owner: a.Signature, Encloses: a.encloses, Strict: strict,
	})
}

// LocksErr returns a conflict error with a hint, nil if there are no locks.
func LocksErr(locks []lock.Lock, hint string) error {
	if len(locks) == 0 {
		return nil
	}
	message := DescribeLock(locks[0])
	if more := len(locks) - 1; more > 0 {
		message += fmt.Sprintf(", and %d more", more)
	}
	if d := locks[0].Declared; d != nil && d.ReadErr != nil {
		hint = "agentctl unlock --force " + locks[0].Dir + " removes the file; " + hint
	} else if d != nil {
		hint = "agentctl unlock removes the lock; " + hint
	}
	return ConflictError(message, hint)
}

// AgentLocksErr is [LocksErr] for starting an agent: locks that the caller has declared count too.
func AgentLocksErr(c *lock.Conflicts, hint string) error {
	return LocksErr(slices.Concat(c.Locks, c.Own), hint)
}

// WarnOfIdle warns of the idle sessions at the workspace.
func (a *Activity) WarnOfIdle(c *lock.Conflicts) {
	for _, s := range c.Idle {
		a.Warn(fmt.Sprintf("%s is open in %s, idle", DescribeSession(s), c.Workspace.Top))
	}
}

// HoldTimeout is how long to wait for a kernel lock: a launch, or a check of the lock, holds it for a moment only.
const HoldTimeout = time.Second
