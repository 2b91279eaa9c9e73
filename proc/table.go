package proc

import (
	"cmp"
	"errors"
	"iter"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
)

// Table is a snapshot of the process table. [ReadTable] reads which processes there are and which binary each one runs.
// On Linux the rest of a process is read when it is first needed, and then cached: reading everything takes four times as
// long, and most of it is never needed. A process that has ended by then is no longer in the table; [Table.Err] returns
// why others could not be read. [Table.LoadAll] reads everything at once. The answers of a process's methods are cached
// as well; see [Process.Uncached].
type Table struct {
	list      []entry          // ascending by pid
	all       func() []Process // ascending by pid; read when first needed
	byParent  func() []Process // the same, ascending by parent and pid
	bySession func() []Process // the same, ascending by session and pid
	hidden    bool
	locks     func() []fileLock  // read when first needed
	match     func(Process) bool // which processes Candidates yields; nil: all
	thorough  *openNames         // nil: the table is not thorough
}

// Err returns why processes that exist could not be read so far. The table lacks them.
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
	pid int
	exe string // "" where it may not be read
	// names returns the short name and the first argument, files the names of what the process has open; nil if they may not be
	// read. Neither checks the identity: they are signs where to look.
	names, files func() []string
	once         sync.Once
	read         func() (Process, error) // nil where it has been read
	// hasEnv reports whether the process that has this pid now was started with any of the variables. It does not check
	// the identity; [Table.WithEnv] does that for those that it yields. It is nil where nothing is cheaper than
	// [Process.Env].
	hasEnv    func(keys []string) bool
	listeners listenersFunc
	p         Process
	ok        bool // the process was read
	err       atomic.Pointer[error]
}

// process reads the process unless that was done before.
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

// EmptyTable returns a table without processes.
func EmptyTable() *Table { return newTable(nil) }

// newTable returns a table of processes that have been read.
func newTable(list []Process) *Table {
	entries := make([]entry, len(list))
	slices.SortFunc(list, func(a, b Process) int { return cmp.Compare(a.ID.PID, b.ID.PID) })
	for i, p := range list {
		e := &entries[i]
		e.pid, e.exe, e.p, e.ok = p.ID.PID, p.Exe, p, true
		e.names, e.files = e.argNames, e.openFileNames
	}
	return tableOf(entries)
}

// tableOf returns a table of entries in ascending order of pids.
func tableOf(list []entry) *Table {
	t := &Table{list: list, locks: func() []fileLock { return nil }}
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

// LoadAll reads what has not been read so far. Call it before a change that would be visible in what is read later: a
// process gets another parent when its own ends, for example.
func (t *Table) LoadAll() { t.all() }

// setHidden records that the system hides processes: some could not be read, or process 1, which always runs, was not
// listed.
func (t *Table) setHidden(denied bool) *Table {
	_, first := t.ByPID(1)
	t.hidden = denied || !first
	return t
}

// Hidden reports whether the system hides processes of other users, so that the table lacks processes that run (Linux:
// /proc mounted with hidepid; BSD: a jail or see_other_uids). The signs are processes that are listed but may not be
// read, and a missing process 1. Without either sign it is not noticed (hidepid=invisible in a container whose process 1
// is ours).
func (t *Table) Hidden() bool { return t.hidden }

// Len returns the number of processes.
func (t *Table) Len() int { return len(t.all()) }

// All yields every process, zombies included, by ascending pid.
func (t *Table) All() iter.Seq[Process] { return slices.Values(t.all()) }

// Signs are what a process can show that makes it worth asking whether it runs a certain program.
type Signs struct {
	// Name accepts the path of the binary, the short name or the first argument. Names prove nothing: anybody can call a process as
	// he likes, and a program can be installed under any name.
	Name func(string) bool
	// PIDs are processes that something else points at.
	PIDs []int
	// File accepts the path of an open file, Env are variables that the process was started with. Only a thorough table is
	// asked for them. Either may be nil.
	File func(path string) bool
	Env  []string
}

// Candidates yields, by ascending pid, the processes with any of the signs, and those whose binary may not be read. No others
// are read. Processes that were forked and have not executed a program yet ([Process.ForkNoExec]) are left out: such a child of
// a program with several threads, as agents are, does nothing but prepare that execution, even after its parent has ended.
func (t *Table) Candidates(signs Signs) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		for i := range t.list {
			e := &t.list[i]
			if !e.shows(&signs) && !t.thorough.shows(i, &signs) {
				continue
			}
			if p, ok := e.process(); ok && !p.ForkNoExec && (t.match == nil || t.match(p)) && !yield(p) {
				return
			}
		}
	}
}

// shows reports whether the process has one of the signs that every table knows.
func (e *entry) shows(signs *Signs) bool {
	return e.exe == "" || signs.Name(e.exe) || slices.ContainsFunc(e.names(), signs.Name) || slices.Contains(signs.PIDs, e.pid)
}

// argNames returns the short name and the first argument of a process that has been read.
func (e *entry) argNames() []string {
	args, _ := e.p.Args()
	return append([]string{e.p.Name}, args[:min(len(args), 1)]...)
}

// openNames are the paths of what processes have open, and what else only a thorough table knows. nil: the table is not thorough.
type openNames struct {
	list []entry
	// files are the paths of a process's open files, by the index of its entry.
	files func() [][]string
	mu    sync.Mutex
	// withEnv are the answers whether a process was started with any of some variables, by their names and the index of the entry.
	withEnv map[string][]bool
}

// Thorough returns a table of the same moment that knows what each process has open and which variables it was started with, as
// far as that may be read: of the processes of our own user, for anybody but root.
func (t *Table) Thorough() *Table {
	u := *t
	u.thorough = &openNames{list: t.list, withEnv: map[string][]bool{}, files: sync.OnceValue(func() [][]string {
		files := make([][]string, len(t.list))
		parallel(len(files), func(i int) {
			if t.list[i].exe != "" {
				files[i] = t.list[i].files()
			}
		})
		return files
	})}
	return &u
}

// IsThorough reports whether the table is one that [Table.Thorough] has returned.
func (t *Table) IsThorough() bool { return t.thorough != nil }

// Examined returns of how many processes that accept accepts a thorough table knows what they have open, and of how many it does
// not. Threads of the kernel do not count.
func (t *Table) Examined(accept func(Process) bool) (known, unknown int) {
	if t.thorough == nil {
		return 0, 0
	}
	for i, files := range t.thorough.files() {
		if p, ok := t.list[i].process(); t.list[i].exe == "" || !ok || !p.Alive() || !accept(p) {
			continue
		}
		if files == nil {
			unknown++
		} else {
			known++
		}
	}
	return known, unknown
}

func (o *openNames) shows(i int, signs *Signs) bool {
	if o == nil {
		return false
	}
	return signs.File != nil && slices.ContainsFunc(o.files()[i], signs.File) || len(signs.Env) > 0 && o.hasEnv(signs.Env)[i]
}

// hasEnv returns which processes were started with any of the variables.
func (o *openNames) hasEnv(keys []string) []bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	name := strings.Join(keys, "\x00")
	answers, known := o.withEnv[name]
	if !known {
		answers = make([]bool, len(o.list))
		parallel(len(answers), func(i int) { answers[i] = o.list[i].exe != "" && o.list[i].hasAnyEnv(keys) })
		o.withEnv[name] = answers
	}
	return answers
}

func (e *entry) hasAnyEnv(keys []string) bool {
	if e.hasEnv != nil {
		return e.hasEnv(keys)
	}
	env, err := e.p.Env(keys...)
	return err == nil && len(env) > 0
}

// openFileNames returns the names of what a process that has been read has open; nil if they may not be read.
func (e *entry) openFileNames() []string {
	names := []string{}
	_, err := e.p.OpenFiles(func(path string) bool {
		names = append(names, path)
		return false
	})
	if err != nil {
		return nil
	}
	return names
}

// Filter returns a table of the same moment whose [Table.Candidates] yields only processes that match accepts. All else is as in
// the whole table.
func (t *Table) Filter(match func(Process) bool) *Table {
	u := *t
	u.match = match
	return &u
}

// WithEnv yields, by ascending pid, the processes that were started with any of the named environment variables. No
// others are read. A process whose environment may not be read is left out.
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

// inSession yields the processes of a session (setsid(2)) by ascending pid.
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

// canBeParent reports whether parent, which has child's parent pid, can be its parent. The table is not read in one
// instant: a parent may die, and its pid go to another process, while the table is read. But a parent is never younger
// than its child.
func canBeParent(parent, child Process) bool {
	return parent.ID.PID != child.ID.PID && (parent.Ticks == 0 || child.Ticks == 0 || parent.Ticks <= child.Ticks)
}
