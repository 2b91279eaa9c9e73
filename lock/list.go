package lock

import (
	"slices"

	"agentctl/discover"
)

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
	for _, d := range flocked {
		list = append(list, Lock{Kind: KindFlock, Dir: d.Dir, Holders: d.Processes, Shared: d.Shared})
	}
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
func (a *Activity) hiddenLocks(w *Workspace, flocked []flockedDir) (out []Lock) {
	seen := slices.ContainsFunc(flocked, func(d flockedDir) bool { return !d.Shared && w.isFlockedDir(d) })
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
