package launch

import (
	"context"
	"errors"

	"agentctl/discover"
	"agentctl/lock"
	"agentctl/proc"
)

// OccupiedError says that sessions or locks keep the agent out of its workspace.
type OccupiedError struct {
	Locks []lock.Lock
	// Flocked: the lock is a kernel lock, of a process that is no launch or has not released it in time.
	Flocked bool
}

func (e *OccupiedError) Error() string { return e.Locks[0].Dir + " is not free" }

// LiveError says that the session to resume is live.
type LiveError struct{ Session discover.Session }

func (e *LiveError) Error() string { return "the session " + e.Session.ID + " is live" }

// LockWorkspace takes the kernel lock of the workspace. It waits for other calls of this program that hold it for a moment: launches,
// until their session is proven, and calls that remove sessions. Any other holder, and one of those when ctx has ended, is an
// [*OccupiedError].
func LockWorkspace(ctx context.Context, scanner *discover.Scanner, w *lock.Workspace) (*lock.Flock, error) {
	for {
		limited, cancel := context.WithTimeout(ctx, lock.FlockTimeout)
		held, err := lock.FlockWorkspace(limited, w.Top)
		cancel()
		if !errors.Is(err, lock.ErrFlocked) {
			return held, err
		}
		if errors.Is(ctx.Err(), context.Canceled) {
			return nil, ctx.Err()
		}
		table, err := scanner.ReadTable(context.WithoutCancel(ctx))
		if err != nil {
			return nil, err
		}
		found := &lock.Conflicts{Workspace: w}
		found.AddHolders(table, true)
		self, _ := table.ByPID(scanner.PID)
		if ctx.Err() != nil || !isBrief(self, found.Locks[0]) {
			return nil, &OccupiedError{Locks: found.Locks, Flocked: true}
		}
	}
}

// remoteVerb is the command that does one of these for the agentctl of another machine. The only command that holds a lock for long, lock, is not for
// other machines.
const remoteVerb = "__remote"

// isBrief reports whether this program holds a lock only for a moment. It assumes so if the holder cannot be seen.
func isBrief(self proc.Process, l lock.Lock) bool {
	if len(l.Holders) == 0 {
		return true
	}
	holder := l.Holders[0]
	args, err := holder.Args()
	if errors.Is(err, proc.ErrGone) || err == nil && len(args) == 0 {
		return true // it has ended, and holds nothing
	}
	if err != nil || holder.Exe != self.Exe || len(args) < 2 {
		return false
	}
	if l.Shared { // a check of the lock
		return true
	}
	switch args[1] {
	case "launch", "resume", string(ActionRemove), string(ActionArchive), string(ActionUnarchive), remoteVerb:
		return true
	}
	return false
}

// checkFree returns a [*LiveError] if the session to resume is live, and an [*OccupiedError] if another one works in the
// workspace or somebody has locked it, be it the caller.
func (p *Plan) checkFree(ctx context.Context, l Planner, w *lock.Workspace) (err error) {
	if p.Activity, err = lock.ReadActivity(ctx, p.Scanner, l.Getenv, l.Now); err != nil {
		return err
	}
	if err := p.checkResumable(); err != nil || l.Force {
		return err
	}
	p.Conflicts, p.UnreadLocks = p.Activity.FindConflicts(w, l.Strict)
	if all := p.Conflicts.All(); len(all) > 0 {
		return &OccupiedError{Locks: all}
	}
	return nil
}

// checkResumable returns a [*LiveError] if the session to resume is live.
func (p *Plan) checkResumable() error {
	if p.Request.Resume == nil || p.Request.Fork {
		return nil
	}
	for _, s := range p.Activity.Sessions {
		if s.MayBeSame(*p.Request.Resume) && s.Status.Live() {
			return &LiveError{s}
		}
	}
	return nil
}
