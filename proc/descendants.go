package proc

import (
	"maps"
	"slices"
)

// Descendants is a set of processes that grows by their descendants.
type Descendants map[ID]Process

// Expand adds the descendants of the members that the table has: by parent, and by the session that a member leads, which
// no process can join from outside. Processes for which exclude is true are left out together with their descendants.
func (d Descendants) Expand(table *Table, exclude func(Process) bool) {
	seen := maps.Clone(d) // members and dead processes whose children were added, or are queued
	queue := slices.Collect(maps.Values(d))
	add := func(p Process) {
		if _, done := seen[p.ID]; done || exclude(p) {
			return
		}
		seen[p.ID] = p
		queue = append(queue, p)
		if p.Alive() {
			d[p.ID] = p
		}
	}
	for len(queue) > 0 {
		for len(queue) > 0 {
			parent := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			if now, there := table.ByPID(parent.ID.PID); !there || now.ID != parent.ID {
				continue // another process has its pid
			}
			for p := range table.Children(parent.ID.PID) {
				add(p)
			}
		}
		for _, m := range slices.Collect(maps.Values(d)) {
			if m.Session != m.ID.PID || m.Session == 0 {
				continue
			}
			for p := range table.All() {
				if p.Session == m.Session && p.Alive() && d.inLedSession(table, p) && d.Includes(table, p, exclude) {
					add(p)
				}
			}
		}
	}
}

// Includes reports whether p descends from a member. The nearest of its ancestors that is a member, or for which exclude
// is true, decides.
func (d Descendants) Includes(table *Table, p Process, exclude func(Process) bool) bool {
	for a := range table.Ancestors(p.ID.PID) {
		if _, known := d[a.ID]; known {
			return true
		}
		if exclude(a) {
			return false
		}
	}
	return d.inLedSession(table, p)
}

// inLedSession reports whether p is in a session that a member leads or led. A session ID is not reused while the session
// has a process, so a younger process can be in it only by descent.
func (d Descendants) inLedSession(table *Table, p Process) bool {
	if p.Session == 0 || p.Session == p.ID.PID {
		return false
	}
	leader, there := table.ByPID(p.Session)
	for _, m := range d {
		if m.ID.PID == p.Session && m.Session == m.ID.PID && m.Ticks <= p.Ticks && (!there || leader.ID == m.ID) {
			return true
		}
	}
	return false
}
