package proc

import (
	"iter"
	"slices"
	"testing"
)

func pids(seq iter.Seq[Process]) []int {
	var list []int
	for p := range seq {
		list = append(list, p.ID.PID)
	}
	return list
}

func family() *Table {
	one := func(pid, parent int, ticks uint64, state State) FakeProcess {
		return FakeProcess{Process: Process{ID: ID{PID: pid, Birth: "b"}, Parent: parent, Ticks: ticks, State: state}}
	}
	return NewFakeTable(
		one(30, 20, 300, 'S'), one(1, 0, 1, 'S'), one(20, 1, 200, 'S'), one(25, 20, 250, 'Z'), one(40, 30, 400, 'R'),
		one(50, 60, 500, 'S'), one(60, 1, 600, 'S'), // 60 is younger than its child: the pid of a parent that ended
		one(70, 80, 0, 'S'), one(80, 70, 0, 'S'), // no kernel makes this
	)
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

func TestEmptyTable(t *testing.T) {
	table := NewFakeTable()
	if _, ok := table.Find(ID{}); ok || table.Len() != 0 || pids(table.All()) != nil || pids(table.Children(0)) != nil {
		t.Error("the empty table is not empty")
	}
}
