package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/lock"
	"agentctl/proc"
)

// occupy holds the worktree if nobody else is at work there. Where that is no matter, nothing is held.
func (r *agentRun) occupy(ctx context.Context) (*lock.Flock, error) {
	place, err := lock.WorkspaceOf(r.req.Dir)
	if err != nil {
		return nil, err
	}
	if r.force && r.req.Resume == nil {
		return nil, nil // whoever is there, and whoever else is starting: that is no matter
	}
	held, err := r.hold(ctx, place)
	if err != nil {
		return nil, err
	}
	if err := r.unoccupied(ctx, place); err != nil {
		held.Release()
		return nil, err
	}
	return held, nil
}

// hold holds the place. Other launches hold it for as long as they take, and are waited for; anybody else is in the way.
func (c *call) hold(ctx context.Context, place *lock.Workspace) (*lock.Flock, error) {
	for {
		limited, cancel := context.WithTimeout(ctx, grabbing)
		held, err := lock.FlockWorkspace(limited, place.Top)
		cancel()
		if !errors.Is(err, lock.ErrFlocked) {
			return held, err
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		table, err := c.Take(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		x := &conflicts{place: place}
		x.addHolders(table, true)
		if ctx.Err() != nil || !c.isLaunch(table, x.locks[0]) {
			return nil, x.err("wait for it")
		}
	}
}

// isLaunch reports whether a lock is that of this program, starting an agent; of an unseen process that is not known.
func (env Env) isLaunch(table *proc.Table, l lock.Lock) bool {
	self, _ := table.ByPID(env.PID)
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

// unoccupied is an error if the session to resume runs, or if another one is running in the worktree.
func (r *agentRun) unoccupied(ctx context.Context, place *lock.Workspace) error {
	sc, err := r.scene(ctx)
	if err != nil {
		return err
	}
	if err := r.resumable(sc.Result); err != nil || r.force {
		return err
	}
	_ = sc.unseen() // the proof of the session will fail, and say why
	x := sc.at(place, r.Strict)
	if err := x.agentErr("wait for it, stop it, use a worktree of its own, or --force"); err != nil {
		return err
	}
	sc.warnOfIdle(x)
	return nil
}

// named is a session in the words of a message.
func named(s discover.Session) string {
	name := fmt.Sprintf("an unidentified %s session", s.Agent)
	if s.ID != "" {
		name = fmt.Sprintf("%s %s", s.Agent, output.Sanitize(s.ID))
	}
	if len(s.Processes) == 0 {
		return name
	}
	return fmt.Sprintf("%s (pid %d, since %s)", name, s.Processes[0].ID.PID, moment(s.Processes[0].Started))
}

// resumable is an error if the session to go on with is live.
func (r *agentRun) resumable(live discover.Result) error {
	if r.req.Resume == nil || r.req.Fork {
		return nil
	}
	i := slices.IndexFunc(live.Sessions, func(s discover.Session) bool { return s.Key() == r.req.Resume.Key() && s.Status.Live() })
	if i < 0 {
		return nil
	}
	s := live.Sessions[i]
	hint := "wait for it, stop it, or continue a copy: --fork"
	if s.Shared && s.Status == discover.Idle { // it does not go away when it is stopped
		hint = fmt.Sprintf("pid %d keeps it open: talk to it there, wait --until stopped, or continue a copy: --fork", s.Processes[0].ID.PID)
	}
	return conflict(fmt.Sprintf("%s is live (%s)", named(s), s.Status), hint)
}
