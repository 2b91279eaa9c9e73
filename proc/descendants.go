package proc

import (
	"maps"
	"slices"
)

// Descendants are processes that descend from one, or from several.
type Descendants map[ID]Process

// Expand adds all of the table that descends from the members: by its parents, as far as they live, and by the session of
// the kernel that a member leads, which nobody can join from outside. What is alien is left out, and with it what
// descends from that.
func (f Descendants) Expand(table *Table, alien func(Process) bool) {
	passed := maps.Clone(f) // whose children are in it, or will be; the dead, too, which the table may have seen last
	fresh := slices.Collect(maps.Values(f))
	add := func(p Process) {
		if _, done := passed[p.ID]; done || alien(p) {
			return
		}
		passed[p.ID] = p
		fresh = append(fresh, p)
		if p.Alive() {
			f[p.ID] = p
		}
	}
	for len(fresh) > 0 {
		for len(fresh) > 0 {
			parent := fresh[len(fresh)-1]
			fresh = fresh[:len(fresh)-1]
			if now, there := table.ByPID(parent.ID.PID); !there || now.ID != parent.ID {
				continue // what has its pid now is another
			}
			for p := range table.Children(parent.ID.PID) {
				add(p)
			}
		}
		for _, m := range slices.Collect(maps.Values(f)) {
			if m.Session != m.ID.PID || m.Session == 0 {
				continue
			}
			for p := range table.inSession(m.Session) {
				if p.Alive() && f.inLedSession(table, p) && f.Includes(table, p, alien) {
					add(p)
				}
			}
		}
	}
}

// Includes reports whether p descends from a member: the nearest of its ancestors that is a member or alien decides.
func (f Descendants) Includes(table *Table, p Process, alien func(Process) bool) bool {
	for a := range table.Ancestors(p.ID.PID) {
		if _, known := f[a.ID]; known {
			return true
		}
		if alien(a) {
			return false
		}
	}
	return f.inLedSession(table, p)
}

// inLedSession reports whether a member leads, or led, the session of the kernel that p is in. The number of a session is not
// given out again while anybody is in it, so that a younger process can only be in it by descent.
func (f Descendants) inLedSession(table *Table, p Process) bool {
	if p.Session == 0 || p.Session == p.ID.PID {
		return false
	}
	leader, there := table.ByPID(p.Session)
	for _, m := range f {
		if m.ID.PID == p.Session && m.Session == m.ID.PID && m.Ticks <= p.Ticks && (!there || leader.ID == m.ID) {
			return true
		}
	}
	return false
}
