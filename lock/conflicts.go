package lock

import (
	"slices"

	"agentctl/discover"
	"agentctl/proc"
)

// Conflicts are the locks in force on a workspace, seen by the caller who wants to work there.
type Conflicts struct {
	Workspace *Workspace
	// Locks are those of others.
	Locks []Lock
	// Own are the declared locks of the caller. They keep out only an agent that the caller starts.
	Own []Lock
	// Idle are sessions that are open in the workspace without working.
	Idle []discover.Session
}

// ConflictQuery says who wants to work in a workspace, and what is known of the others.
type ConflictQuery struct {
	// Sessions are the live sessions, Declared the declared locks on the workspace.
	Sessions []discover.Session
	Declared []DeclaredLock
	// Owner is the name under which the caller declares locks.
	Owner string
	// Encloses reports whether the caller runs inside a session, which is no conflict then.
	Encloses func(discover.Session) bool
	// Strict: an idle session is a conflict.
	Strict bool
}

// FindConflicts returns the conflicts at a workspace. Kernel locks are not among them; see [Conflicts.AddHolders].
func FindConflicts(w *Workspace, q ConflictQuery) *Conflicts {
	c := &Conflicts{Workspace: w}
	for _, s := range q.Sessions {
		switch {
		case q.Encloses(s) || !w.Contains(SessionDir(s)):
		case SessionLocks(s, q.Sessions, q.Strict):
			c.Locks = append(c.Locks, Lock{Kind: KindSession, Dir: w.Top, Session: &s})
		case s.Status == discover.Idle && !s.IsSubagent():
			c.Idle = append(c.Idle, s)
		}
	}
	for _, d := range q.Declared {
		l := Lock{Kind: KindDeclared, Dir: w.Top, Declared: &d}
		if d.ReadErr == nil && d.By == q.Owner {
			c.Own = append(c.Own, l)
		} else {
			c.Locks = append(c.Locks, l)
		}
	}
	return c
}

// AddHolders adds the kernel lock on the workspace, with the processes that are seen to hold it. Shared locks count only
// with shared: they conflict with an exclusive one.
func (c *Conflicts) AddHolders(table *proc.Table, shared bool) {
	l := Lock{Kind: KindFlock, Dir: c.Workspace.Top}
	for _, d := range FlockedDirs(table) {
		if c.Workspace.IsFlockedDir(d) && (shared || !d.Shared) {
			l.Holders, l.Shared = append(l.Holders, d.Processes...), d.Shared
		}
	}
	c.Locks = append(c.Locks, l)
}

// DropInherited drops the kernel lock if an ancestor of the process with this pid holds it, as for the command of
// `lock DIR -- COMMAND`: all its processes share that lock.
func (c *Conflicts) DropInherited(table *proc.Table, pid int) {
	above := slices.Collect(table.Ancestors(pid))
	c.Locks = slices.DeleteFunc(c.Locks, func(l Lock) bool {
		return slices.ContainsFunc(l.Holders, func(h proc.Process) bool {
			return slices.ContainsFunc(above, func(p proc.Process) bool { return p.ID == h.ID })
		})
	})
}
