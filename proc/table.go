package proc

import (
	"cmp"
	"iter"
	"maps"
	"slices"
)

// Table is a snapshot of the process table: which processes there are, and the fields of each [Process].
type Table struct {
	list   []Process // ascending by pid
	err    error
	hidden bool
	locks  func() []FileLock  // read when first needed
	match  func(Process) bool // which processes Candidates yields; nil: all
	known  *contents          // nil: the table is not thorough
}

// Err returns why processes that exist could not be read. The table lacks them.
func (t *Table) Err() error { return t.err }

// EmptyTable returns a table without processes.
func EmptyTable() *Table { return NewTable(nil, nil, nil) }

// NewTable returns a table of processes. locks reads the locks on files when they are first needed; nil: they are not known. err is
// what [Table.Err] returns.
func NewTable(list []Process, locks func() []FileLock, err error) *Table {
	slices.SortFunc(list, func(a, b Process) int { return cmp.Compare(a.ID.PID, b.ID.PID) })
	return &Table{list: list, locks: locks, err: err}
}

// setHidden records that the system hides processes: some could not be read, or process 1, which always runs, was not
// listed.
func (t *Table) setHidden(denied bool) *Table {
	_, first := t.ByPID(1)
	t.hidden = denied || !first
	return t
}

// Hidden reports whether the system hides processes of other users, so that the table lacks processes that run (Linux:
// /proc mounted with hidepid). The signs are processes that are listed but may not be read, and a missing process 1. Without
// either sign it is not noticed (hidepid=invisible in a container whose process 1 is ours).
func (t *Table) Hidden() bool { return t.hidden }

// Len returns the number of processes.
func (t *Table) Len() int { return len(t.list) }

// All yields every process, zombies included, by ascending pid.
func (t *Table) All() iter.Seq[Process] { return slices.Values(t.list) }

// Find returns the live process with this ID. It does not find a zombie, an ended process, or a pid that belongs to
// another process by now.
func (t *Table) Find(id ID) (Process, bool) {
	p, ok := t.ByPID(id.PID)
	if !ok || p.ID != id || !p.Alive() {
		return Process{}, false
	}
	return p, true
}

// ByPID returns the process that had this pid when the table was read, a zombie included.
func (t *Table) ByPID(pid int) (Process, bool) {
	i, ok := slices.BinarySearchFunc(t.list, pid, func(p Process, pid int) int { return cmp.Compare(p.ID.PID, pid) })
	if !ok {
		return Process{}, false
	}
	return t.list[i], true
}

// Ancestors yields the parent of pid, its parent, and so on up to the first process.
func (t *Table) Ancestors(pid int) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		child, _ := t.ByPID(pid)
		for range t.list { // a cycle cannot outlast the table
			parent, ok := t.Parent(child)
			if !ok || !yield(parent) {
				return
			}
			child = parent
		}
	}
}

// Parent returns the parent of a process, a zombie included.
func (t *Table) Parent(p Process) (Process, bool) {
	parent, ok := t.ByPID(p.Parent)
	return parent, ok && canBeParent(parent, p)
}

// Children yields the direct children of pid by ascending pid.
func (t *Table) Children(pid int) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		parent, known := t.ByPID(pid)
		for i := range t.list {
			if p := &t.list[i]; p.Parent == pid && p.ID.PID != pid && (!known || canBeParent(parent, *p)) && !yield(*p) {
				return
			}
		}
	}
}

// IsForkOfParent reports whether p is a child that a process has forked and that has not called exec yet. It still has its parent's
// program, command line and open files.
func (t *Table) IsForkOfParent(p Process) bool {
	parent, ok := t.ByPID(p.Parent)
	if !ok || !parent.Alive() || parent.Exe != p.Exe {
		return false
	}
	args, err := p.Args()
	parentArgs, parentErr := parent.Args()
	return err == nil && parentErr == nil && len(args) > 0 && slices.Equal(args, parentArgs)
}

// canBeParent reports whether parent, which has child's parent pid, can be its parent. The table is not read in one
// instant: a parent may die, and its pid go to another process, while the table is read. But a parent is never younger
// than its child.
func canBeParent(parent, child Process) bool {
	return parent.ID.PID != child.ID.PID && (parent.Ticks == 0 || child.Ticks == 0 || parent.Ticks <= child.Ticks)
}

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

// StartMonitor notices processes that start and processes that execute another program. The zero StartMonitor knows no
// process. It is for one goroutine.
type StartMonitor struct {
	known  map[int]knownProcess
	calls  int
	newest int // the newest pid when the processes were listed last
	// settled is the first call at which no process counts as new.
	settled int
}

// knownProcess is a process as of the last call.
type knownProcess struct {
	exe       string
	firstSeen int // the call that first listed it
}

// newCalls is for how many calls a process counts as new: most processes that execute another program do so soon after their start.
// Every so many calls, the binaries of all processes are read.
const newCalls = 8

// Poll returns the binaries of the processes that have started since the last call, and of those that have executed another
// program. For a process that is not new, the latter is noticed some calls late. The first call returns the binaries of all
// processes. Binaries that may not be read are left out. Poll fails if the process table cannot be read.
func (m *StartMonitor) Poll() (started []string, err error) {
	m.calls++
	newest, known := newestPID()
	if known && newest == m.newest && m.calls >= m.settled && m.calls%newCalls != 0 {
		return nil, nil // nothing has started: `top` on an idle machine takes a fifth less
	}
	pids, binary, err := listPIDs()
	if err != nil {
		return nil, err
	}
	m.newest = newest
	now := make(map[int]knownProcess, len(pids))
	for _, pid := range pids {
		p, known := m.known[pid]
		if !known {
			p.firstSeen, m.settled = m.calls, m.calls+newCalls
		}
		if m.calls-p.firstSeen < newCalls || m.calls%newCalls == 0 {
			if exe := binary(pid); exe != "" && exe != p.exe {
				p.exe = exe
				started = append(started, exe)
			}
		}
		now[pid] = p
	}
	m.known = now
	return started, nil
}
