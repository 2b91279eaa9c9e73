package stop

import (
	"context"
	"maps"

	"agentctl/proc"
)

// family are processes that descend from one.
type family map[proc.ID]proc.Process

// note adds to the process's family what it has by now. Agents that it has started have families of their own.
func (a *agent) note(ctx context.Context) error {
	table, err := a.world.Take(ctx)
	if err != nil {
		return err
	}
	root, ok := table.Find(a.process.ID)
	if !ok {
		return nil
	}
	alien := func(p proc.Process) bool { return a.now.Agents[p.ID] && p.ID != root.ID }
	a.noting.Lock()
	defer a.noting.Unlock()
	seen := family{root.ID: root}
	maps.Copy(seen, a.below)
	seen.grow(table, alien)
	delete(seen, root.ID)
	maps.Copy(a.below, seen)
	return nil
}

// grow adds all of the table that descends from the members: by its parents, as far as they live, and by the session of
// the kernel that a member leads, which nobody can join from outside. What is alien is left out, and with it what
// descends from that.
func (f family) grow(table *proc.Table, alien func(proc.Process) bool) {
	for grew := true; grew; {
		grew = false
		for p := range table.All() {
			if _, known := f[p.ID]; !known && p.Alive() && !alien(p) && f.begot(table, p, alien) {
				f[p.ID], grew = p, true
			}
		}
	}
}

// begot reports whether p descends from a member: the nearest of its ancestors that is a member or alien decides.
func (f family) begot(table *proc.Table, p proc.Process, alien func(proc.Process) bool) bool {
	for a := range table.Ancestors(p.ID.PID) {
		if _, known := f[a.ID]; known {
			return true
		}
		if alien(a) {
			return false
		}
	}
	return f.leads(table, p)
}

// leads reports whether a member leads, or led, the session of the kernel that p is in. The number of a session is not
// given out again while anybody is in it, so that a younger process can only be in it by descent.
func (f family) leads(table *proc.Table, p proc.Process) bool {
	if p.Session == 0 || p.Session == p.ID.PID {
		return false
	}
	leader, there := table.PID(p.Session)
	for _, m := range f {
		if m.ID.PID == p.Session && m.Session == m.ID.PID && m.Ticks <= p.Ticks && (!there || leader.ID == m.ID) {
			return true
		}
	}
	return false
}
