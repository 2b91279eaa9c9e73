package proc

// Family are processes that descend from one, or from several.
type Family map[ID]Process

// Grow adds all of the table that descends from the members: by its parents, as far as they live, and by the session of
// the kernel that a member leads, which nobody can join from outside. What is alien is left out, and with it what
// descends from that.
func (f Family) Grow(table *Table, alien func(Process) bool) {
	for grew := true; grew; {
		grew = false
		for p := range table.All() {
			if _, known := f[p.ID]; !known && p.Alive() && !alien(p) && f.Begot(table, p, alien) {
				f[p.ID], grew = p, true
			}
		}
	}
}

// Begot reports whether p descends from a member: the nearest of its ancestors that is a member or alien decides.
func (f Family) Begot(table *Table, p Process, alien func(Process) bool) bool {
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
func (f Family) leads(table *Table, p Process) bool {
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
