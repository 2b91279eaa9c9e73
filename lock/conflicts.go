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
			l.Holders, l.Shared = append(l.Holders, d.Processes...), d.Shared
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
