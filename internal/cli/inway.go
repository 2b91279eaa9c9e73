package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/internal/render"
	"agentctl/lock"
	"agentctl/proc"
)

// scene is what there is at a place, as one call sees it.
type scene struct {
	discover.Result
	// locks are those in force on the place, but for our own; own are those that we have declared ourselves; idle are the
	// sessions that are merely open there.
	locks, own []lock.Lock
	idle       []discover.Session
	// self is how we sign the locks that we declare.
	self string
}

// sceneAt looks who is at work at a place. A process that has just been started there counts, before anything names its
// session. The session that we run inside of is not in our own way.
func (env Env) sceneAt(ctx context.Context, world *discover.World, place *lock.Place, strict bool) (scene, error) {
	r, err := world.List(ctx, discover.Select{Children: true})
	if err != nil {
		return scene{}, err
	}
	nearest := world.Inside(r, env.PID, env.Getenv)
	around := env.around(r, nearest)
	sc := scene{Result: r, self: env.signature(r, nearest)}
	for _, s := range r.Sessions {
		switch {
		case around(s) || !place.Has(lock.DirOf(s)):
		case lock.Locks(s, r.Sessions, strict):
			sc.locks = append(sc.locks, lock.Lock{Kind: lock.Live, Dir: place.Top, Session: &s})
		case s.Status == discover.Idle && !s.IsSub():
			sc.idle = append(sc.idle, s)
		}
	}
	declared, err := lock.StoreIn(env.Getenv).On(place, env.Now())
	if err != nil {
		env.say("warning", err.Error())
	}
	for _, d := range declared {
		l := lock.Lock{Kind: lock.Stated, Dir: place.Top, Declared: &d}
		if d.Damage == nil && d.By == sc.self {
			sc.own = append(sc.own, l)
		} else {
			sc.locks = append(sc.locks, l)
		}
	}
	return sc, nil
}

// signature names who declares a lock: the session that we run inside of, which is the nearest, else the person. A
// sub-agent signs for the session that it works for.
func (env Env) signature(r discover.Result, nearest []discover.Session) string {
	if len(nearest) == 1 && nearest[0].ID != "" {
		s := discover.Eldest(r.Sessions, nearest[0])
		return string(s.Agent) + "/" + s.ID
	}
	return cmp.Or(env.Getenv("USER"), env.Getenv("LOGNAME"), fmt.Sprintf("uid %d", env.UID))
}

// held adds the lock of the kernel, if one on the place keeps everybody else out.
func (sc *scene) held(place *lock.Place) error {
	held, err := place.Held()
	if err == nil && held {
		sc.holders(place, false)
	}
	return err
}

// holders adds the lock of the kernel that is known to be on the place, with the processes that can be seen to have it. A
// shared one counts for who wants to hold the place alone.
func (sc *scene) holders(place *lock.Place, shared bool) {
	l := lock.Lock{Kind: lock.Kernel, Dir: place.Top}
	for _, h := range lock.Holdings(sc.Table) {
		if place.IsHolding(h) && (shared || !h.Shared) {
			l.Holders, l.Shared = append(l.Holders, h.Processes...), h.Shared
		}
	}
	sc.locks = append(sc.locks, l)
}

// agentsOut adds the locks that we have declared ourselves: they keep agents out, whoever starts them.
func (sc *scene) agentsOut() { sc.locks = append(sc.locks, sc.own...) }

// unseen warns if the process table cannot be read, so that nobody can tell who is at work; it is [errPartial] then.
func (env Env) unseen(sc scene) error {
	if !sc.Blind {
		return nil
	}
	return env.warn(sc.Warnings)
}

// heldAround drops the lock of the kernel if the process with this pid runs below one that holds it, as what
// `lock DIR -- COMMAND` runs does: all the processes that hold a place share one lock.
func (sc *scene) heldAround(pid int) {
	above := slices.Collect(sc.Table.Ancestors(pid))
	sc.locks = slices.DeleteFunc(sc.locks, func(l lock.Lock) bool {
		return slices.ContainsFunc(l.Holders, func(h proc.Process) bool {
			return slices.ContainsFunc(above, func(p proc.Process) bool { return p.ID == h.ID })
		})
	})
}

// conflict is the error that the locks make, with what to do about it; nil if there are none.
func (sc scene) conflict(hint string) error {
	if len(sc.locks) == 0 {
		return nil
	}
	message := whoLocks(sc.locks[0])
	if more := len(sc.locks) - 1; more > 0 {
		message += fmt.Sprintf(", and %d more", more)
	}
	if d := sc.locks[0].Declared; d != nil && d.Damage != nil {
		hint = "agentctl unlock --force " + sc.locks[0].Dir + " removes the file; " + hint
	} else if d != nil {
		hint = "agentctl unlock removes the lock; " + hint
	}
	return conflict(message, hint)
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
		return fmt.Sprintf("%s is %s by process %d (%s, since %s)", l.Dir, how, p.ID.PID, render.Clean(p.Name), moment(p.Started))
	case l.Declared == nil:
		return fmt.Sprintf("%s is held by a process that cannot be seen", l.Dir)
	}
	d := l.Declared
	if d.Damage != nil {
		return fmt.Sprintf("%s is locked: %v", l.Dir, d.Damage)
	}
	text := fmt.Sprintf("%s is locked by %s since %s", l.Dir, render.Clean(d.By), moment(d.Since))
	if !d.Until.IsZero() {
		text += " until " + moment(d.Until)
	}
	if d.Reason != "" {
		text += ": " + render.Clean(d.Reason)
	}
	return text
}

// moment is a time in a message, in the zone and the form of the tables.
func moment(t time.Time) string { return t.Local().Format("2006-01-02 15:04:05") }

// openHere warns of sessions that are merely open at the place.
func (env Env) openHere(sc scene, place *lock.Place) {
	for _, s := range slices.Clone(sc.idle) {
		env.say("warning", fmt.Sprintf("%s is open in %s, idle", named(s), place.Top))
	}
}
