package lock

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"agentctl/discover"
	"agentctl/discover/ancestry"
	"agentctl/proc"
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
			if dir, err := p.Cwd(); err == nil {
				dirs = append(dirs, dir)
			}
		}
		return !s.Status.Live() || !slices.ContainsFunc(dirs, func(dir string) bool { return discover.Within(Resolve(dir), path) })
	})
}

// Conflicts are the locks in force on a workspace, seen by the caller who wants to work there.
type Conflicts struct {
	Workspace *Workspace
	// Locks are those of others.
	Locks []Lock
	// Own are the declared locks of the caller. They keep out only an agent or a command that the caller starts.
	Own []Lock
	// Idle are sessions that are open in the workspace without working.
	Idle []discover.Session
}

// All returns the locks that keep out what the caller starts: its own count too.
func (c *Conflicts) All() []Lock { return slices.Concat(c.Locks, c.Own) }

// AddHolders adds the kernel lock on the workspace, with the processes that are seen to hold it. Shared locks count only
// with shared: they conflict with an exclusive one.
func (c *Conflicts) AddHolders(table *proc.Table, shared bool) {
	l := Lock{Kind: KindFlock, Dir: c.Workspace.Top}
	for _, d := range flockedDirs(table) {
		if c.Workspace.isFlockedDir(d) && (shared || !d.Shared) {
			l.Holders, l.Shared = append(l.Holders, d.Holders...), d.Shared
		}
	}
	c.Locks = append(c.Locks, l)
}

// AddFlock adds the kernel lock on the workspace if another process holds it alone. A lock that an ancestor of the process with
// this pid holds is none, as for the command of `lock DIR -- COMMAND`: all its processes share that lock.
func (c *Conflicts) AddFlock(table *proc.Table, pid int) error {
	held, err := c.Workspace.isFlocked()
	if !held {
		return err
	}
	c.AddHolders(table, false)
	above := slices.Collect(table.Ancestors(pid))
	c.Locks = slices.DeleteFunc(c.Locks, func(l Lock) bool {
		return slices.ContainsFunc(l.Holders, func(h proc.Process) bool {
			return slices.ContainsFunc(above, func(p proc.Process) bool { return p.ID == h.ID })
		})
	})
	return nil
}

// List returns all locks in force: those of sessions, of processes, and declared ones. With strict an idle session locks its
// workspace. The error names declared locks that cannot be read; the list is valid all the same.
func (a *Activity) List(strict bool) ([]Lock, error) {
	var list []Lock
	for _, s := range slices.Backward(a.Sessions) {
		dir := SessionDir(s) // also if it is gone: who works there is still at work
		if dir == "" || !sessionLocks(s, a.Sessions, strict) {
			continue
		}
		if w, err := WorkspaceOf(dir); err == nil {
			dir = w.Top
		}
		list = append(list, Lock{Kind: KindSession, Dir: dir, Session: &s})
	}
	flocked := flockedDirs(a.Table)
	list = append(list, flocked...)
	declared, err := a.store.List(a.now())
	for _, d := range declared {
		list = append(list, Lock{Kind: KindDeclared, Dir: d.Dir, Declared: &d})
	}
	for _, w := range workspacesOf(a.Sessions, declared) {
		list = append(list, a.hiddenLocks(w, flocked)...)
	}
	return list, err
}

// workspacesOf returns the workspaces to check for hidden locks: the current one, those of sessions, and those of declared
// locks.
func workspacesOf(sessions []discover.Session, declared []DeclaredLock) (out []*Workspace) {
	dirs := []string{"."}
	for _, s := range sessions {
		dirs = append(dirs, SessionDir(s))
	}
	for _, d := range declared {
		dirs = append(dirs, d.Dir)
	}
	seen := map[string]bool{"": true}
	for _, dir := range dirs {
		if seen[dir] {
			continue
		}
		seen[dir] = true
		w, err := WorkspaceOf(dir)
		if err == nil && !slices.ContainsFunc(out, func(o *Workspace) bool { return o.Contains(dir) }) {
			out = append(out, w)
		}
	}
	return out
}

// hiddenLocks returns the locks of a workspace that no list has: one held by a process that cannot be seen, and declared ones
// whose file cannot be read.
func (a *Activity) hiddenLocks(w *Workspace, flocked []Lock) (out []Lock) {
	seen := slices.ContainsFunc(flocked, func(d Lock) bool { return !d.Shared && w.isFlockedDir(d) })
	if held, err := w.isFlocked(); err == nil && held && !seen {
		out = append(out, Lock{Kind: KindFlock, Dir: w.Top})
	}
	declared, _ := a.store.ForWorkspace(w, a.now()) // List has reported errors of the store
	for _, d := range declared {
		if d.ReadErr != nil {
			out = append(out, Lock{Kind: KindDeclared, Dir: w.Top, Declared: &d})
		}
	}
	return out
}
