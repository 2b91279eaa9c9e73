package cmdutil

import (
	"context"

	"agentctl/lock"
)

// GuardOptions are the flags of guard: Strict counts idle sessions, Quiet does not warn of them.
type GuardOptions struct{ Strict, Quiet, JSON bool }

// CommitOverride overrides the guard of a commit; git sets CommitVar while it runs hooks of one (githooks(5): pre-commit).
const (
	CommitOverride = "git commit --no-verify"
	CommitVar      = "GIT_INDEX_FILE"
)

// Guard returns a conflict error if another session runs in the workspace of dir, or the workspace is locked. over is the
// git command that overrides the check; "" outside a git hook.
func (f Factory) Guard(ctx context.Context, dir string, o *GuardOptions, over string) error {
	c, err := f.NewCall("guard", &CommonFlags{}, nil)
	if err != nil {
		return err
	}
	place, err := lock.WorkspaceOf(dir)
	if err != nil {
		return UsageError("guard", "%v", err)
	}
	working, done := f.StartQuery(ctx, "looking for running sessions")
	sc, err := c.Activity(working)
	done()
	if err != nil {
		return err
	}
	unread := f.ReportWarnings(sc.Warnings)
	if sc.ProcessesUnknown {
		// Who is at work cannot be told: to let pass what must not would be the worse mistake. What is missing of other stores
		// blocks nobody's work.
		return unread
	}
	x := sc.ConflictsAt(place, o.Strict || c.Strict)
	switch held, err := place.IsFlocked(); {
	case err != nil:
		return err
	case held:
		x.AddHolders(sc.Table, false)
	}
	x.DropInherited(sc.Table, f.PID)
	if !o.Quiet {
		sc.WarnOfIdle(x)
	}
	if over == "" {
		return LocksErr(x.Locks, "wait for it, or use a worktree of your own")
	}
	return LocksErr(x.Locks, "wait for it, or override: "+over)
}
