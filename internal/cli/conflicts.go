package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/internal/output"
	"agentctl/lock"
	"agentctl/proc"
)

// scene is who is at work on the machine, as one call sees it.
type scene struct {
	*call
	discover.Result
	// inside reports whether we run inside of a session, which is not in our own way.
	inside func(discover.Session) bool
	// self is how we sign the locks that we declare.
	self string
}

// scene lists all live sessions. A process that has just been started counts, before anything names its session.
func (c *call) scene(ctx context.Context) (*scene, error) {
	r, err := c.world.List(ctx, discover.SessionFilter{Subagents: true})
	if err != nil {
		return nil, err
	}
	nearest := c.nearest(r)
	return &scene{c, r, c.around(r, nearest), c.signature(r, nearest)}, nil
}

// signature names who declares a lock: the session that we run inside of, which is the nearest, else the person. A
// sub-agent signs for the session that it works for.
func (env Env) signature(r discover.Result, nearest []discover.Session) string {
	if len(nearest) == 1 && nearest[0].ID != "" {
		s := discover.RootSession(r.Sessions, nearest[0])
		return string(s.Agent) + "/" + s.ID
	}
	return cmp.Or(env.Getenv("USER"), env.Getenv("LOGNAME"), fmt.Sprintf("uid %d", env.UID))
}

// unseen warns if the process table cannot be read, so that nobody can tell who is at work; it is [errPartial] then.
func (sc *scene) unseen() error {
	if !sc.ProcessesUnknown {
		return nil
	}
	return sc.warn(sc.Warnings)
}

// conflicts are the locks in force on a place, but for our own; declared are those that we have declared ourselves; idle are
// the sessions that are merely open there.
type conflicts struct {
	place           *lock.Workspace
	locks, declared []lock.Lock
	idle            []discover.Session
}

// at returns the conflicts at a place; with strict an idle session is one.
func (sc *scene) at(place *lock.Workspace, strict bool) *conflicts {
	x := &conflicts{place: place}
	for _, s := range sc.Sessions {
		switch {
		case sc.inside(s) || !place.Contains(lock.SessionDir(s)):
		case lock.SessionLocks(s, sc.Sessions, strict):
			x.locks = append(x.locks, lock.Lock{Kind: lock.KindSession, Dir: place.Top, Session: &s})
		case s.Status == discover.Idle && !s.IsSubagent():
			x.idle = append(x.idle, s)
		}
	}
	declared, err := lock.StoreFromEnv(sc.Getenv).ForWorkspace(place, sc.Now())
	if err != nil {
		sc.warning(err.Error())
	}
	for _, d := range declared {
		l := lock.Lock{Kind: lock.KindDeclared, Dir: place.Top, Declared: &d}
		if d.ReadErr == nil && d.By == sc.self {
			x.declared = append(x.declared, l)
		} else {
			x.locks = append(x.locks, l)
		}
	}
	return x
}

// addHolders adds the lock of the kernel that is known to be on the place, with the processes that can be seen to have it. A
// shared one counts for who wants to hold the place alone.
func (x *conflicts) addHolders(table *proc.Table, shared bool) {
	l := lock.Lock{Kind: lock.KindFlock, Dir: x.place.Top}
	for _, h := range lock.FlockedDirs(table) {
		if x.place.IsFlockedDir(h) && (shared || !h.Shared) {
			l.Holders, l.Shared = append(l.Holders, h.Processes...), h.Shared
		}
	}
	x.locks = append(x.locks, l)
}

// err is the error that the locks make, with what to do about it; nil if there are none.
func (x *conflicts) err(hint string) error {
	if len(x.locks) == 0 {
		return nil
	}
	message := whoLocks(x.locks[0])
	if more := len(x.locks) - 1; more > 0 {
		message += fmt.Sprintf(", and %d more", more)
	}
	if d := x.locks[0].Declared; d != nil && d.ReadErr != nil {
		hint = "agentctl unlock --force " + x.locks[0].Dir + " removes the file; " + hint
	} else if d != nil {
		hint = "agentctl unlock removes the lock; " + hint
	}
	return conflict(message, hint)
}

// agentErr is the error for an agent, whoever starts it: locks that we have declared ourselves keep it out as well.
func (x *conflicts) agentErr(hint string) error {
	x.locks = append(x.locks, x.declared...)
	return x.err(hint)
}

// warnOfIdle warns of sessions that are merely open at the place.
func (sc *scene) warnOfIdle(x *conflicts) {
	for _, s := range x.idle {
		sc.warning(fmt.Sprintf("%s is open in %s, idle", named(s), x.place.Top))
	}
}

// whoLocks tells of one lock: who, since when and why.
func whoLocks(l lock.Lock) string {
	switch {
	case l.Session != nil:
		return fmt.Sprintf("%s is running in %s (%s)", named(*l.Session), l.Dir, l.Session.Status)
	case len(l.Holders) > 0:
		p := l.Holders[0]
		how := "held"
		if l.Shared {
			how = "held (shared)"
		}
		return fmt.Sprintf("%s is %s by process %d (%s, since %s)", l.Dir, how, p.ID.PID, output.Sanitize(p.Name), moment(p.Started))
	case l.Declared == nil:
		return fmt.Sprintf("%s is held by a process that cannot be seen", l.Dir)
	}
	d := l.Declared
	if d.ReadErr != nil {
		return fmt.Sprintf("%s is locked: %v", l.Dir, d.ReadErr)
	}
	text := fmt.Sprintf("%s is locked by %s since %s", l.Dir, output.Sanitize(d.By), moment(d.Since))
	if !d.Until.IsZero() {
		text += " until " + moment(d.Until)
	}
	if d.Reason != "" {
		text += ": " + output.Sanitize(d.Reason)
	}
	return text
}

// moment is a time in a message, in the zone and the form of the tables.
func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// dropHeldAround drops the lock of the kernel if the process with this pid runs below one that holds it, as what
// `lock DIR -- COMMAND` runs does: all the processes that hold a place share one lock.
func (x *conflicts) dropHeldAround(table *proc.Table, pid int) {
	above := slices.Collect(table.Ancestors(pid))
	x.locks = slices.DeleteFunc(x.locks, func(l lock.Lock) bool {
		return slices.ContainsFunc(l.Holders, func(h proc.Process) bool {
			return slices.ContainsFunc(above, func(p proc.Process) bool { return p.ID == h.ID })
		})
	})
}
