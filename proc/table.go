package proc

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
)

// Table is a snapshot of the process table. It knows who was there and which binary each one ran. On Linux the rest of
// a process is read when it is first asked for, and then kept: that costs four times as much, and most are never asked
// for. One that has vanished by then is in the table no more; [Table.Err] says if one could not be read.
// [Table.Complete] reads all of it at once. What its processes are asked for is kept, too; see [Process.Fresh].
type Table struct {
	list      []entry          // ascending by pid
	all       func() []Process // ascending by pid; read when first asked for
	byParent  func() []Process // the same, ascending by parent and pid
	bySession func() []Process // the same, ascending by session of the kernel and pid
	hidden    bool
	match     func(Process) bool // which processes Running yields; nil: all
}

// Err is why something that was asked for so far could not be read, though it is there; the table then lacks it.
func (t *Table) Err() error {
	var errs []error
	for i := range t.list {
		if err := t.list[i].err.Load(); err != nil {
			errs = append(errs, *err)
		}
	}
	return errors.Join(errs...)
}

// entry is a process of the table.
type entry struct {
	pid  int
	exe  string // "" where it may not be read
	once sync.Once
	read func() (Process, error) // nil where it has been read
	// hasEnv reports whether the process that has this pid now was started with any of the variables. It does not check the
	// identity: [Table.WithEnv] does so for those that it accepts. It is nil where there is no cheaper way than [Process.Env].
	hasEnv    func(keys []string) bool
	listeners listenersFunc
	p         Process
	ok        bool // there is such a process
	err       atomic.Pointer[error]
}

// process reads the process if that was not done before.
func (e *entry) process() (Process, bool) {
	e.once.Do(func() {
		if e.read != nil {
			p, err := e.read()
			if e.p, e.ok = p, err == nil; err != nil && !errors.Is(err, ErrGone) {
				e.err.Store(&err)
			}
		}
		e.p.impl = newCachedBackend(e.p.backend(), e.listeners)
	})
	return e.p, e.ok
}

// newTable makes a table of processes that have been read.
func newTable(list []Process) *Table {
	entries := make([]entry, len(list))
	slices.SortFunc(list, func(a, b Process) int { return cmp.Compare(a.ID.PID, b.ID.PID) })
	for i, p := range list {
		e := &entries[i]
		e.pid, e.exe, e.p, e.ok = p.ID.PID, p.Exe, p, true
	}
	return tableOf(entries)
}

// tableOf makes a table of entries, ascending by pid.
func tableOf(list []entry) *Table {
	t := &Table{list: list}
	ours := sync.OnceValues(systemListeners)
	for i := range list {
		list[i].listeners = ours
	}
	t.all = sync.OnceValue(func() []Process {
		parallel(len(list), func(i int) { list[i].process() })
		out := make([]Process, 0, len(list))
		for i := range list {
			if p, ok := list[i].process(); ok {
				out = append(out, p)
			}
		}
		return out
	})
	t.byParent = sync.OnceValue(func() []Process {
		order := slices.Clone(t.all())
		slices.SortStableFunc(order, func(a, b Process) int { return cmp.Compare(a.Parent, b.Parent) })
		return order
	})
	t.bySession = sync.OnceValue(func() []Process {
		order := slices.Clone(t.all())
		slices.SortStableFunc(order, func(a, b Process) int { return cmp.Compare(a.Session, b.Session) })
		return order
	})
	return t
}

// LoadAll reads what has not been asked for so far. It is for those who are about to change what there is: a child,
// say, has another parent once its own has ended.
func (t *Table) LoadAll() { t.all() }

// setHidden notes that the system keeps processes from us: some were denied, or the first process, which always runs,
// was not listed.
func (t *Table) setHidden(denied bool) *Table {
	_, first := t.ByPID(1)
	t.hidden = denied || !first
	return t
}

// Hidden reports whether the system keeps other users' processes from us (Linux: /proc mounted with hidepid; BSD: a
// jail or see_other_uids), so that the table lacks processes that run. It shows by processes that are listed but may
// not be read, or by the first process missing; with neither (hidepid=invisible in a container whose first process is
// ours) it cannot be told.
func (t *Table) Hidden() bool { return t.hidden }

// Len is the number of processes seen.
func (t *Table) Len() int { return len(t.all()) }

// All yields every process, zombies included, by ascending pid.
func (t *Table) All() iter.Seq[Process] { return slices.Values(t.all()) }

// WithExe yields, by ascending pid, the processes whose binary match accepts by its path, and those whose binary may
// not be read. No others are looked at. What one of them has just forked to start something else in is left out: until
// then it is a copy that runs the binary in name only, also if who forked it is gone. Of a program with several threads, as
// agents are, nothing goes on in a copy but what leads to its execution.
func (t *Table) WithExe(match func(exe string) bool) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		for i := range t.list {
			e := &t.list[i]
			if e.exe != "" && !match(e.exe) {
				continue
			}
			if p, ok := e.process(); ok && !p.ForkNoExec && (t.match == nil || t.match(p)) && !yield(p) {
				return
			}
		}
	}
}

// Filter returns a table of the same moment whose [Table.Running] yields only the processes that match accepts. All else is
// as in the whole table.
func (t *Table) Filter(match func(Process) bool) *Table {
	return &Table{list: t.list, all: t.all, byParent: t.byParent, hidden: t.hidden, match: match}
}

// WithEnv yields, by ascending pid, the processes that were started with any of the named environment variables. No others are
// read. One whose environment may not be read is left out.
func (t *Table) WithEnv(keys ...string) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		for i := range t.list {
			e := &t.list[i]
			if e.hasEnv != nil && !e.hasEnv(keys) {
				continue
			}
			p, ok := e.process()
			if !ok {
				continue
			}
			if env, err := p.Env(keys...); err == nil && len(env) > 0 && !yield(p) {
				return
			}
		}
	}
}

// Find returns the live process with this identity. A zombie, a vanished process and a pid that belongs to
// another process by now are all not found.
func (t *Table) Find(id ID) (Process, bool) {
	p, ok := t.ByPID(id.PID)
	if !ok || p.ID != id || !p.Alive() {
		return Process{}, false
	}
	return p, true
}

// ByPID returns whatever process had this pid when the table was taken, a zombie too.
func (t *Table) ByPID(pid int) (Process, bool) {
	i := sort.Search(len(t.list), func(i int) bool { return t.list[i].pid >= pid })
	if i == len(t.list) || t.list[i].pid != pid {
		return Process{}, false
	}
	return t.list[i].process()
}

// Ancestors yields the parent of pid, its parent, and so on up to the first process.
func (t *Table) Ancestors(pid int) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		child, _ := t.ByPID(pid)
		for range t.list { // a cycle cannot outlast the table
			parent, ok := t.ByPID(child.Parent)
			if !ok || !canBeParent(parent, child) || !yield(parent) {
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
		from, _ := slices.BinarySearchFunc(order, pid, func(p Process, pid int) int { return cmp.Compare(p.Parent, pid) })
		parent, known := t.ByPID(pid)
		for _, p := range order[from:] {
			if p.Parent != pid {
				return
			}
			if p.ID.PID != pid && (!known || canBeParent(parent, p)) && !yield(p) {
				return
			}
		}
	}
}

// inSession yields the processes in a session of the kernel, by ascending pid.
func (t *Table) inSession(session int) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		order := t.bySession()
		from, _ := slices.BinarySearchFunc(order, session, func(p Process, session int) int { return cmp.Compare(p.Session, session) })
		for _, p := range order[from:] {
			if p.Session != session || !yield(p) {
				return
			}
		}
	}
}

// canBeParent reports whether parent, found under child's parent pid, can be its parent. The table is not read in one
// instant: a parent may die and its pid go to another process in between, but a parent is never the younger one.
func canBeParent(parent, child Process) bool {
	return parent.ID.PID != child.ID.PID && (parent.Ticks == 0 || child.Ticks == 0 || parent.Ticks <= child.Ticks)
}
