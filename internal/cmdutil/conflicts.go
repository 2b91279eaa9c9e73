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

// Activity is who is at work on the machine, as one call sees it.
type Activity struct {
	*Call
	discover.Result
	// encloses reports whether we run inside of a session, which is not in our own way.
	encloses func(discover.Session) bool
	// Signature is how we sign the locks that we declare.
	Signature string
}

// Activity lists all live sessions. A process that has just been started counts, before anything names its session.
func (c *Call) Activity(ctx context.Context) (*Activity, error) {
	r, err := c.Scanner.List(ctx, discover.SessionFilter{Subagents: true})
	if err != nil {
		return nil, err
	}
	nearest := c.EnclosingSessions(r)
	return &Activity{c, r, c.Encloses(r, nearest), c.Signature(r, nearest)}, nil
}

// WarnIfBlind warns if the process table cannot be read, so that nobody can tell who is at work; it is [ErrPartial] then.
func (sc *Activity) WarnIfBlind() error {
	if !sc.ProcessesUnknown {
		return nil
	}
	return sc.ReportWarnings(sc.Warnings)
}

// Conflicts are the locks in force on a place, but for our own; declared are those that we have declared ourselves; idle are
// the sessions that are merely open there.
type Conflicts struct {
	Place           *lock.Workspace
	Locks, declared []lock.Lock
	idle            []discover.Session
}

// ConflictsAt returns the conflicts at a place; with strict an idle session is one.
func (sc *Activity) ConflictsAt(place *lock.Workspace, strict bool) *Conflicts {
	x := &Conflicts{Place: place}
	for _, s := range sc.Sessions {
		switch {
		case sc.encloses(s) || !place.Contains(lock.SessionDir(s)):
		case lock.SessionLocks(s, sc.Sessions, strict):
			x.Locks = append(x.Locks, lock.Lock{Kind: lock.KindSession, Dir: place.Top, Session: &s})
		case s.Status == discover.Idle && !s.IsSubagent():
			x.idle = append(x.idle, s)
		}
	}
	declared, err := lock.StoreFromEnv(sc.Getenv).ForWorkspace(place, sc.Now())
	if err != nil {
		sc.Warn(err.Error())
	}
	for _, d := range declared {
		l := lock.Lock{Kind: lock.KindDeclared, Dir: place.Top, Declared: &d}
		if d.ReadErr == nil && d.By == sc.Signature {
			x.declared = append(x.declared, l)
		} else {
			x.Locks = append(x.Locks, l)
		}
	}
	return x
}

// AddHolders adds the lock of the kernel that is known to be on the place, with the processes that can be seen to have it. A
// shared one counts for who wants to hold the place alone.
func (x *Conflicts) AddHolders(table *proc.Table, shared bool) {
	l := lock.Lock{Kind: lock.KindFlock, Dir: x.Place.Top}
	for _, h := range lock.FlockedDirs(table) {
		if x.Place.IsFlockedDir(h) && (shared || !h.Shared) {
			l.Holders, l.Shared = append(l.Holders, h.Processes...), h.Shared
		}
	}
	x.Locks = append(x.Locks, l)
}

// Err is the error that the locks make, with what to do about it; nil if there are none.
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

// AgentErr is the error for an agent, whoever starts it: locks that we have declared ourselves keep it out as well.
func (x *Conflicts) AgentErr(hint string) error {
	x.Locks = append(x.Locks, x.declared...)
	return x.Err(hint)
}

// WarnOfIdle warns of sessions that are merely open at the place.
func (sc *Activity) WarnOfIdle(x *Conflicts) {
	for _, s := range x.idle {
		sc.Warn(fmt.Sprintf("%s is open in %s, idle", DescribeSession(s), x.Place.Top))
	}
}

// DropInherited drops the lock of the kernel if the process with this pid runs below one that holds it, as what
// `lock DIR -- COMMAND` runs does: all the processes that hold a place share one lock.
func (x *Conflicts) DropInherited(table *proc.Table, pid int) {
	above := slices.Collect(table.Ancestors(pid))
	x.Locks = slices.DeleteFunc(x.Locks, func(l lock.Lock) bool {
		return slices.ContainsFunc(l.Holders, func(h proc.Process) bool {
			return slices.ContainsFunc(above, func(p proc.Process) bool { return p.ID == h.ID })
		})
	})
}

// HoldTimeout is how long a lock of the kernel is asked for: a launch or a look at the lock holds it for a moment only.
const HoldTimeout = time.Second
