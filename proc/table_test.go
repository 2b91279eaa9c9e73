package proc

import (
	"iter"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func pids(seq iter.Seq[Process]) []int {
	var list []int
	for p := range seq {
		list = append(list, p.ID.PID)
	}
	return list
}

func family() *Table {
	one := func(pid, parent int, ticks uint64, state State) Process {
		return Process{ID: ID{PID: pid, Birth: "b"}, Parent: parent, Ticks: ticks, State: state}
	}
	return NewTable([]Process{
		one(30, 20, 300, 'S'), one(1, 0, 1, 'S'), one(20, 1, 200, 'S'), one(25, 20, 250, 'Z'), one(40, 30, 400, 'R'),
		one(50, 60, 500, 'S'), one(60, 1, 600, 'S'), // 60 is younger than its child: the pid of a parent that ended
		one(70, 80, 0, 'S'), one(80, 70, 0, 'S'), // no kernel makes this
	}, nil, nil)
}

func TestAncestors(t *testing.T) {
	for pid, want := range map[int][]int{40: {30, 20, 1}, 25: {20, 1}, 1: nil, 50: nil, 999: nil} {
		if got := pids(family().Ancestors(pid)); !slices.Equal(got, want) {
			t.Errorf("of %d: %v, want %v", pid, got, want)
		}
	}
	if got := pids(family().Ancestors(70)); len(got) > family().Len() {
		t.Errorf("of a cycle: %v", got)
	}
}

func TestChildren(t *testing.T) {
	for pid, want := range map[int][]int{1: {20, 60}, 20: {25, 30}, 30: {40}, 40: nil, 60: nil, 999: nil, 0: {1}} {
		if got := pids(family().Children(pid)); !slices.Equal(got, want) {
			t.Errorf("of %d: %v, want %v", pid, got, want)
		}
	}
}

func TestFind(t *testing.T) {
	table := family()
	for id, want := range map[ID]bool{{30, "b"}: true, {30, "c"}: false, {30, ""}: false, {25, "b"}: false, {31, "b"}: false, {}: false} {
		if p, ok := table.Find(id); ok != want || ok && p.ID != id {
			t.Errorf("%+v: %+v, %v", id, p, ok)
		}
	}
}

// TestDescendants: by parent, by the session that a member leads, and not through excluded processes.
func TestDescendants(t *testing.T) {
	at := func(pid, parent, session int, ticks uint64) Process {
		return Process{ID: ID{PID: pid, Birth: "b"}, Parent: parent, Session: session, Ticks: ticks, State: 'S'}
	}
	dead := at(17, 10, 10, 8)
	dead.State = 'Z'
	table := NewTable([]Process{
		at(1, 0, 1, 0),
		at(10, 1, 10, 5),
		at(11, 10, 10, 6), at(12, 11, 12, 7), // a child, and its child in a session of its own
		at(13, 1, 10, 8),                     // its parent has ended
		at(14, 1, 9, 8),                      // somebody else's
		at(15, 10, 15, 8), at(16, 15, 15, 9), // alien, and what it has started
		dead,
		at(18, 1, 18, 9), at(19, 1, 10, 4), // a session of its own; older than the one that leads
	}, nil, nil)
	root, _ := table.ByPID(10)
	family := Descendants{root.ID: root}
	alien := func(p Process) bool { return p.ID.PID == 15 }
	family.Expand(table, alien)
	ofFiltered := Descendants{root.ID: root}
	ofFiltered.Expand(table.Filter(func(Process) bool { return false }), alien) // which hides no relation
	for _, d := range []Descendants{family, ofFiltered} {
		var got []int
		for id := range d {
			got = append(got, id.PID)
		}
		if slices.Sort(got); !slices.Equal(got, []int{10, 11, 12, 13}) {
			t.Errorf("%v", got)
		}
	}
	for pid, want := range map[int]bool{15: true, 16: false, 14: false} {
		p, _ := table.ByPID(pid)
		if family.Includes(table, p, func(q Process) bool { return alien(q) && q.ID != p.ID }) != want {
			t.Errorf("%d: not %v", pid, want)
		}
	}
}

// TestExpandAddsAllDescendants: all descendants of the members and no other process, for any table.
func TestExpandAddsAllDescendants(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var facts []Process
		n := rapid.IntRange(1, 12).Draw(t, "processes")
		small := func(what string) int { return rapid.IntRange(0, n).Draw(t, what) }
		for pid := 1; pid <= n; pid++ {
			facts = append(facts, Process{
				ID: ID{PID: pid, Birth: "b"}, Parent: small("parent"), Session: small("session"), Ticks: uint64(small("ticks")),
				State: rapid.SampledFrom([]State{'S', 'S', 'S', 'Z'}).Draw(t, "state"),
			})
		}
		table := NewTable(facts, nil, nil)
		outcast := small("alien")
		alien := func(p Process) bool { return p.ID.PID == outcast }
		family := Descendants{}
		for _, pid := range rapid.SliceOfN(rapid.IntRange(1, n), 1, 3).Draw(t, "members") {
			if p, ok := table.ByPID(pid); ok && !alien(p) {
				family[p.ID] = p
			}
		}
		before := maps.Clone(family)
		family.Expand(table, alien)
		for p := range table.All() {
			_, was := before[p.ID]
			_, is := family[p.ID]
			others := maps.Clone(family)
			delete(others, p.ID)
			if want := was || p.Alive() && !alien(p) && others.Includes(table, p, alien); is != want {
				t.Fatalf("%+v: in it %v, want %v", p, is, want)
			}
		}
	})
}
