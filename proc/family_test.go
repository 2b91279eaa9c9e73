package proc

import (
	"slices"
	"testing"
)

// TestFamily: by parents, by the session of the kernel that a member leads, and not through what is alien.
func TestFamily(t *testing.T) {
	at := func(pid, parent, session int, ticks uint64) Facts {
		return Facts{Process: Process{ID: ID{PID: pid, Birth: "b"}, Parent: parent, Session: session, Ticks: ticks, State: 'S'}}
	}
	dead := at(17, 10, 10, 8)
	dead.State = 'Z'
	table := Of(
		at(1, 0, 1, 0),
		at(10, 1, 10, 5),
		at(11, 10, 10, 6), at(12, 11, 12, 7), // a child, and its child in a session of its own
		at(13, 1, 10, 8),                     // its parent has ended
		at(14, 1, 9, 8),                      // somebody else's
		at(15, 10, 15, 8), at(16, 15, 15, 9), // alien, and what it has started
		dead,
		at(18, 1, 18, 9), at(19, 1, 10, 4), // a session of its own; older than the one that leads
	)
	root, _ := table.PID(10)
	family := Family{root.ID: root}
	alien := func(p Process) bool { return p.ID.PID == 15 }
	family.Grow(table, alien)
	var got []int
	for id := range family {
		got = append(got, id.PID)
	}
	slices.Sort(got)
	if !slices.Equal(got, []int{10, 11, 12, 13}) {
		t.Errorf("%v", got)
	}
	for pid, want := range map[int]bool{15: true, 16: false, 14: false} {
		p, _ := table.PID(pid)
		if family.Begot(table, p, func(q Process) bool { return alien(q) && q.ID != p.ID }) != want {
			t.Errorf("%d: not %v", pid, want)
		}
	}
}
