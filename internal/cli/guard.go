package cli

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
	workspace, err := lock.WorkspaceOf(dir)
	if err != nil {
		return UsageError("guard", "%v", err)
	}
	activity, err := c.Activity(ctx, "looking for running sessions")
	if err != nil {
		return err
	}
	unread := f.ReportWarnings(activity.Warnings)
	if activity.ProcessesUnknown {
		// Who is at work cannot be told: to let pass what must not would be the worse mistake. What is missing of other stores
		// blocks nobody's work.
		return unread
	}
	x := f.ConflictsAt(activity, workspace, o.Strict || c.Config.Strict)
	if err := x.AddFlock(activity.Table, f.PID); err != nil {
		return err
	}
	if !o.Quiet {
		f.WarnOfIdle(x)
	}
	if over == "" {
		return LocksErr(x.Locks, "wait for it, or use a worktree of your own")
	}
	return LocksErr(x.Locks, "wait for it, or override: "+over)
}
