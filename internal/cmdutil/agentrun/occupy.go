package agentrun

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agentctl/discover"
	"agentctl/internal/cmdutil"
	"agentctl/lock"
	"agentctl/proc"
)

// HoldWorktree checks that no other session works in the worktree, and holds a kernel lock on it. With --force it holds
// nothing, except to resume.
func (r *Run) HoldWorktree(ctx context.Context) (*lock.Flock, error) {
	place, err := lock.WorkspaceOf(r.Request.Dir)
	if err != nil {
		return nil, err
	}
	if r.force && r.Request.Resume == nil {
		return nil, nil // whoever is there, and whoever else is starting: that is no matter
	}
	held, err := hold(ctx, r.Call, place)
	if err != nil {
		return nil, err
	}
	if err := r.checkFree(ctx, place); err != nil {
		held.Release()
		return nil, err
	}
	return held, nil
}

// hold takes the kernel lock on the workspace. It waits for other launches, which hold it until their session is
// proven; any other holder is a conflict.
func hold(ctx context.Context, c *cmdutil.Call, place *lock.Workspace) (*lock.Flock, error) {
	for {
		limited, cancel := context.WithTimeout(ctx, lock.FlockTimeout)
		held, err := lock.FlockWorkspace(limited, place.Top)
		cancel()
		if !errors.Is(err, lock.ErrFlocked) {
			return held, err
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		table, err := c.ReadTable(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		x := &lock.Conflicts{Workspace: place}
		x.AddHolders(table, true)
		if ctx.Err() != nil || !isLaunch(c.Factory, table, x.Locks[0]) {
			return nil, cmdutil.LocksErr(x.Locks, "wait for it")
		}
	}
}

// isLaunch reports whether a lock is held by this program starting an agent. Of a holder that cannot be seen it assumes
// so.
func isLaunch(f cmdutil.Factory, table *proc.Table, l lock.Lock) bool {
	self, _ := table.ByPID(f.PID)
	if len(l.Holders) == 0 {
		return true
	}
	holder := l.Holders[0]
	args, err := holder.Args()
	if errors.Is(err, proc.ErrGone) || err == nil && len(args) == 0 {
		return true // it has ended since, and holds nothing
	}
	if err != nil || holder.Exe != self.Exe || len(args) < 2 {
		return false
	}
	return l.Shared || args[1] == "launch" || args[1] == "resume" // it only shares the lock to see whether it is held
}

// checkFree returns a conflict error if the session to resume is live, or if another one runs in the worktree.
func (r *Run) checkFree(ctx context.Context, place *lock.Workspace) error {
	activity, err := r.Activity(ctx)
	if err != nil {
		return err
	}
	if err := r.checkResumable(activity.Result); err != nil || r.force {
		return err
	}
	_ = r.WarnIfBlind(activity) // the proof of the session will fail, and say why
	x := r.ConflictsAt(activity, place, r.Strict)
	if err := cmdutil.AgentLocksErr(x, "wait for it, stop it, use a worktree of its own, or --force"); err != nil {
		return err
	}
	r.WarnOfIdle(x)
	return nil
}

// checkResumable returns a conflict error if the session to resume is live.
func (r *Run) checkResumable(live discover.Result) error {
	if r.Request.Resume == nil || r.Request.Fork {
		return nil
	}
	i := slices.IndexFunc(live.Sessions, func(s discover.Session) bool { return s.Key() == r.Request.Resume.Key() && s.Status.Live() })
	if i < 0 {
		return nil
	}
	s := live.Sessions[i]
	hint := "wait for it, stop it, or continue a copy: --fork"
	if s.Shared && s.Status == discover.Idle { // it does not go away when it is stopped
		hint = fmt.Sprintf("pid %d keeps it open: talk to it there, wait --until stopped, or continue a copy: --fork", s.Processes[0].ID.PID)
	}
	return cmdutil.ConflictError(fmt.Sprintf("%s is live (%s)", cmdutil.DescribeSession(s), s.Status), hint)
}
