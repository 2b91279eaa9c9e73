package cli

import (
	"context"
	"fmt"

	"agentctl/lock"
)

// Activity reads who works where, as this command sees it; what names the work in the progress line.
func (c *Call) Activity(ctx context.Context, what string) (*lock.Activity, error) {
	working, done := c.StartWork(ctx, what)
	defer done()
	return lock.ReadActivity(working, c.Scanner, c.Getenv, c.Now)
}

// WarnIfBlind warns if the process table cannot be read, so that live sessions are unknown. It returns [ErrPartial] then.
func (f Factory) WarnIfBlind(a *lock.Activity) error {
	if !a.ProcessesUnknown {
		return nil
	}
	return f.ReportWarnings(a.Warnings)
}

// ConflictsAt returns the conflicts at a workspace; with strict an idle session is one.
func (f Factory) ConflictsAt(a *lock.Activity, workspace *lock.Workspace, strict bool) *lock.Conflicts {
	x, err := a.FindConflicts(workspace, strict)
	if err != nil {
		f.Warn(err.Error())
	}
	return x
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

// WarnOfIdle warns of the idle sessions at the workspace.
func (f Factory) WarnOfIdle(c *lock.Conflicts) {
	for _, s := range c.Idle {
		f.Warn(fmt.Sprintf("%s is open in %s, idle", DescribeSession(s), c.Workspace.Top))
	}
}
