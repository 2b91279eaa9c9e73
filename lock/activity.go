package lock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/ancestry"
)

// Activity is who works where at one moment, as the process that asks sees it.
type Activity struct {
	// Result has all live sessions, and agents' processes whose session is not known yet.
	discover.Result
	// Owner is the name under which the caller declares locks: the nearest session around it, as AGENT/ID, else the user. A
	// sub-agent signs for its root session.
	Owner string

	enclosing ancestry.Enclosing
	store     Store
	now       func() time.Time
}

// ReadActivity reads who works where. The scanner knows the process that asks; getenv and now are its environment and clock.
func ReadActivity(ctx context.Context, scanner *discover.Scanner, getenv func(string) string, now func() time.Time) (*Activity, error) {
	r, err := scanner.List(ctx, discover.SessionFilter{Subagents: true, Thorough: true})
	if err != nil {
		return nil, err
	}
	a := &Activity{
		Result: r, Owner: cmp.Or(getenv("USER"), getenv("LOGNAME"), fmt.Sprintf("uid %d", scanner.UID)),
		enclosing: ancestry.FindEnclosing(scanner, r, scanner.PID, getenv), store: StoreFromEnv(getenv), now: now,
	}
	if nearest := a.enclosing.Nearest; len(nearest) == 1 && nearest[0].ID != "" {
		s := discover.RootSession(r.Sessions, nearest[0])
		a.Owner = string(s.Agent) + "/" + s.ID
	}
	return a, nil
}

// FindConflicts returns the conflicts at a workspace; with strict an idle session is one. A session that the caller runs
// inside of is none. Kernel locks are not among them; see [Conflicts.AddHolders] and [Conflicts.AddFlock]. The error names
// declared locks that cannot be read and may be on other workspaces; the conflicts are valid all the same.
func (a *Activity) FindConflicts(w *Workspace, strict bool) (*Conflicts, error) {
	c := &Conflicts{Workspace: w}
	for _, s := range a.Sessions {
		switch {
		case a.enclosing.Contains(s) || !w.Contains(SessionDir(s)):
		case sessionLocks(s, a.Sessions, strict):
			c.Locks = append(c.Locks, Lock{Kind: KindSession, Dir: w.Top, Session: &s})
		case s.Status == discover.Idle && !s.IsSubagent():
			c.Idle = append(c.Idle, s)
		}
	}
	declared, err := a.store.ForWorkspace(w, a.now())
	for _, d := range declared {
		l := Lock{Kind: KindDeclared, Dir: w.Top, Declared: &d}
		if d.ReadErr == nil && d.By == a.Owner {
			c.Own = append(c.Own, l)
		} else {
			c.Locks = append(c.Locks, l)
		}
	}
	return c, err
}

// SessionsBelow returns the live sessions that work below path, by their own directory or by that of their processes. The
// caller's are among them.
func (a *Activity) SessionsBelow(path string) []discover.Session {
	return slices.DeleteFunc(slices.Clone(a.Sessions), func(s discover.Session) bool {
		dirs := []string{SessionDir(s)}
		for _, p := range s.AllProcesses() {
			if dir, err := p.Uncached().Cwd(); err == nil {
				dirs = append(dirs, dir)
			}
		}
		return !s.Status.Live() || !slices.ContainsFunc(dirs, func(dir string) bool { return Within(Resolve(dir), path) })
	})
}
