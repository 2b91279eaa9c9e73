package cmdutil

import (
	"context"
	"fmt"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/lock"
	"agentctl/proc"
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

// Conflicts are the locks in force on a workspace: locks are those of others, declared those that the caller has declared.
// idle are sessions that are open there without working.
type Conflicts struct {
	Place           *lock.Workspace
	Locks, declared []lock.Lock
	idle            []discover.Session
}

// ConflictsAt returns the conflicts at a workspace; with strict an idle session is one.
func (a *Activity) ConflictsAt(place *lock.Workspace, strict bool) *Conflicts {
	x := &Conflicts{Place: place}
	for _, s := range a.Sessions {
		switch {
		case a.encloses(s) || !place.Contains(lock.SessionDir(s)):
		case lock.SessionLocks(s, a.Sessions, strict):
			x.Locks = append(x.Locks, lock.Lock{Kind: lock.KindSession, Dir: place.Top, Session: &s})
		case s.Status == discover.Idle && !s.IsSubagent():
			x.idle = append(x.idle, s)
		}
	}
	declared, err := lock.StoreFromEnv(a.Getenv).ForWorkspace(place, a.Now())
	if err != nil {
		a.Warn(err.Error())
	}
	for _, d := range declared {
		l := lock.Lock{Kind: lock.KindDeclared, Dir: place.Top, Declared: &d}
		if d.ReadErr == nil && d.By == a.Signature {
			x.declared = append(x.declared, l)
		} else {
			x.Locks = append(x.Locks, l)
		}
	}
	return x
}

// AddHolders adds the kernel lock on the workspace, with the processes that are seen to hold it. Shared locks count only
// with shared: they conflict with an exclusive one.
func (x *Conflicts) AddHolders(table *proc.Table, shared bool) {
	l := lock.Lock{Kind: lock.KindFlock, Dir: x.Place.Top}
	for _, h := range lock.FlockedDirs(table) {
		if x.Place.IsFlockedDir(h) && (shared || !h.Shared) {
			l.Holders, l.Shared = append(l.Holders, h.Processes...), h.Shared
		}
	}
	x.Locks = append(x.Locks, l)
}

// Err returns a conflict error with a hint, nil if there are no locks.
func (x *Conflicts) Err(hint string) error {
	if len(x.Locks) == 0 {
		return nil
	}
	message := DescribeLock(x.Locks[0])
	if more := len(x.Locks) - 1; more > 0 {
		message += fmt.Sprintf(", and %d more", more)
	}
	if d := x.Locks[0].Declared; d != nil && d.ReadErr != nil {
		hint = "agentctl unlock --force " + x.Locks[0].Dir + " removes the file; " + hint
	} else if d != nil {
		hint = "agentctl unlock removes the lock; " + hint
	}
	return ConflictError(message, hint)
}

// AgentErr is Err for starting an agent: locks that the caller has declared count too.
func (x *Conflicts) AgentErr(hint string) error {
	x.Locks = append(x.Locks, x.declared...)
	return x.Err(hint)
}

// WarnOfIdle warns of the idle sessions at the workspace.
func (a *Activity) WarnOfIdle(x *Conflicts) {
	for _, s := range x.idle {
		a.Warn(fmt.Sprintf("%s is open in %s, idle", DescribeSession(s), x.Place.Top))
	}
}

// DropInherited drops the kernel lock if an ancestor of the process with this pid holds it, as for the command of
// `lock DIR -- COMMAND`: all its processes share that lock.
func (x *Conflicts) DropInherited(table *proc.Table, pid int) {
	above := slices.Collect(table.Ancestors(pid))
	x.Locks = slices.DeleteFunc(x.Locks, func(l lock.Lock) bool {
		return slices.ContainsFunc(l.Holders, func(h proc.Process) bool {
			return slices.ContainsFunc(above, func(p proc.Process) bool { return p.ID == h.ID })
		})
	})
}

// HoldTimeout is how long to wait for a kernel lock: a launch, or a check of the lock, holds it for a moment only.
const HoldTimeout = time.Second
