package proc

import (
	"cmp"
	"iter"
	"slices"
	"sync"
)

// Table is an immutable snapshot of the process table.
type Table struct {
	list     []Process    // ascending by pid
	byParent func() []int // indexes into list, ascending by parent and pid; made when first asked for
	hidden   bool
}

func newTable(list []Process) *Table {
	slices.SortFunc(list, func(a, b Process) int { return cmp.Compare(a.ID.PID, b.ID.PID) })
	return &Table{list: list, byParent: sync.OnceValue(func() []int {
		order := make([]int, len(list))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[a].Parent, list[b].Parent) })
		return order
	})}
}

// hide notes that the system keeps processes from us: some were denied, or the first process, which always runs,
// was not listed.
func (t *Table) hide(denied bool) *Table {
	_, first := t.PID(1)
	t.hidden = denied || !first
	return t
}

// Hidden reports whether the system keeps other users' processes from us (Linux: /proc mounted with hidepid; BSD: a
// jail or see_other_uids), so that the table lacks processes that run. It shows by processes that are listed but may
// not be read, or by the first process missing; with neither (hidepid=invisible in a container whose first process is
// ours) it cannot be told.
func (t *Table) Hidden() bool { return t.hidden }

// Len is the number of processes seen.
func (t *Table) Len() int { return len(t.list) }

// All yields every process, zombies included, by ascending pid.
func (t *Table) All() iter.Seq[Process] { return slices.Values(t.list) }

// Find returns the live process with this identity. A zombie, a vanished process and a pid that belongs to
// another process by now are all not found.
func (t *Table) Find(id ID) (Process, bool) {
	p, ok := t.PID(id.PID)
	if !ok || p.ID != id || !p.Alive() {
		return Process{}, false
	}
	return p, true
}

// PID returns whatever process had this pid when the table was taken, a zombie too.
func (t *Table) PID(pid int) (Process, bool) {
	i, ok := slices.BinarySearchFunc(t.list, pid, func(p Process, pid int) int { return cmp.Compare(p.ID.PID, pid) })
	if !ok {
		return Process{}, false
	}
	return t.list[i], true
}

// Ancestors yields the parent of pid, its parent, and so on up to the first process.
func (t *Table) Ancestors(pid int) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		child, _ := t.PID(pid)
		for range t.list { // a cycle cannot outlast the table
			parent, ok := t.PID(child.Parent)
			if !ok || !begot(parent, child) || !yield(parent) {
				return
			}
			child = parent
		}
	}
}

// Children yields the direct children of pid by ascending pid.
func (t *Table) Children(pid int) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		order := t.byParent()
		from, _ := slices.BinarySearchFunc(order, pid, func(i, pid int) int { return cmp.Compare(t.list[i].Parent, pid) })
		parent, known := t.PID(pid)
		for _, i := range order[from:] {
			p := t.list[i]
			if p.Parent != pid {
				return
			}
			if p.ID.PID != pid && (!known || begot(parent, p)) && !yield(p) {
				return
			}
		}
	}
}

// begot reports whether parent, found under child's parent pid, can be its parent. The table is not read in one
// instant: a parent may die and its pid go to another process in between, but a parent is never the younger one.
func begot(parent, child Process) bool {
	return parent.ID.PID != child.ID.PID && (parent.Ticks == 0 || child.Ticks == 0 || parent.Ticks <= child.Ticks)
}
