package proc

import (
	"cmp"
	"io/fs"
	"iter"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// Table is a snapshot of the process table: which processes there are, and the fields of each [Process].
type Table struct {
	list   []Process // ascending by pid
	err    error
	hidden bool
	locks  func() []fileLock  // read when first needed
	match  func(Process) bool // which processes Candidates yields; nil: all
	known  *contents          // nil: the table is not thorough
	hints  hints
}

// hints are signs where to look, read without a check of the identity.
type hints interface {
	// openNames returns the names of what the process has open; nil if they may not be read.
	openNames(Process) []string
	// hasEnv reports whether the process was started with any of the variables.
	hasEnv(p Process, keys []string) bool
}

// Err returns why processes that exist could not be read. The table lacks them.
func (t *Table) Err() error { return t.err }

// EmptyTable returns a table without processes.
func EmptyTable() *Table { return newTable(nil) }

// newTable returns a table of processes.
func newTable(list []Process) *Table {
	slices.SortFunc(list, func(a, b Process) int { return cmp.Compare(a.ID.PID, b.ID.PID) })
	return &Table{list: list, locks: func() []fileLock { return nil }, hints: verifiedHints{}}
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

// Candidates yields, by ascending pid, the processes with any of the signs, and those whose binary may not be read. Processes that
// were forked and have not executed a program yet ([Process.ForkNoExec]) are left out: such a child of a program with several
// threads, as agents are, does nothing but prepare that execution, even after its parent has ended.
func (t *Table) Candidates(signs Signs) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		for i, p := range t.list {
			if (p.shows(signs) || t.showsThoroughly(i, signs)) && !p.ForkNoExec && (t.match == nil || t.match(p)) && !yield(p) {
				return
			}
		}
	}
}

// shows reports whether the process has one of the signs that every table knows.
func (p Process) shows(signs Signs) bool {
	return p.Exe == "" || slices.ContainsFunc([]string{p.Exe, p.Name, p.arg0}, signs.Name) || slices.Contains(signs.PIDs, p.ID.PID)
}

// showsThoroughly reports whether a process has one of the signs that only a thorough table knows.
func (t *Table) showsThoroughly(i int, signs Signs) bool {
	return t.known != nil && (signs.File != nil && slices.ContainsFunc(t.known.files()[i], signs.File) ||
		len(signs.Env) > 0 && t.hasEnv(signs.Env)[i])
}

// contents is what only a thorough table knows of its processes, by their index.
type contents struct {
	files   func() [][]string // the paths of open files; nil where they may not be read
	mu      sync.Mutex
	withEnv map[string][]bool // whether a process was started with any of some variables, by their names
}

// hasEnv returns which processes were started with any of the variables, as read once.
func (t *Table) hasEnv(keys []string) []bool {
	t.known.mu.Lock()
	defer t.known.mu.Unlock()
	name := strings.Join(keys, "\x00")
	answers, known := t.known.withEnv[name]
	if !known {
		answers = make([]bool, len(t.list))
		parallel(len(answers), func(i int) { answers[i] = t.list[i].isExamined() && t.hints.hasEnv(t.list[i], keys) })
		t.known.withEnv[name] = answers
	}
	return answers
}

// Thorough returns a table of the same moment that knows what each process has open and which variables it was started with, as
// far as that may be read: of the processes of our own user, for anybody but root.
func (t *Table) Thorough() *Table {
	u := *t
	u.known = &contents{withEnv: map[string][]bool{}, files: sync.OnceValue(func() [][]string {
		files := make([][]string, len(t.list))
		parallel(len(files), func(i int) {
			if files[i] = []string{}; t.list[i].isExamined() {
				files[i] = t.hints.openNames(t.list[i])
			}
		})
		return files
	})}
	return &u
}

// isExamined reports whether a thorough table examines a process. A kernel thread has no binary. A process with one thread cannot be a
// program that is searched for: the runtimes of these (tokio, Bun) start several (SEEN: four at least). With 450 other processes,
// `guard` takes 20 ms of processor time instead of 40.
func (p Process) isExamined() bool { return p.Exe != "" && p.threads != 1 }

// IsThorough reports whether the table is one that [Table.Thorough] has returned.
func (t *Table) IsThorough() bool { return t.known != nil }

// Examined returns of how many processes that accept accepts a thorough table knows what they have open, and of how many it does
// not. Threads of the kernel do not count.
func (t *Table) Examined(accept func(Process) bool) (known, unknown int) {
	if t.known == nil {
		return 0, 0
	}
	for i, files := range t.known.files() {
		switch p := t.list[i]; {
		case p.Exe == "" || !p.Alive() || !accept(p):
		case files == nil:
			unknown++
		default:
			known++
		}
	}
	return known, unknown
}

// verifiedHints asks the processes themselves, where nothing is cheaper.
type verifiedHints struct{}

func (verifiedHints) openNames(p Process) []string {
	names := []string{}
	_, err := p.OpenFiles(func(path string) bool {
		names = append(names, path)
		return false
	})
	if err != nil {
		return nil
	}
	return names
}

func (verifiedHints) hasEnv(p Process, keys []string) bool {
	env, err := p.Env(keys...)
	return err == nil && len(env) > 0
}

// Filter returns a table of the same moment whose [Table.Candidates] yields only processes that match accepts. All else is as in
// the whole table.
func (t *Table) Filter(match func(Process) bool) *Table {
	u := *t
	u.match = match
	return &u
}

// WithEnv yields, by ascending pid, the processes that were started with any of the named environment variables. A process whose
// environment may not be read is left out.
func (t *Table) WithEnv(keys ...string) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		for _, p := range t.list {
			if t.hints.hasEnv(p, keys) && verifiedHints.hasEnv(verifiedHints{}, p, keys) && !yield(p) {
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
		parent, known := t.ByPID(pid)
		for i := range t.list {
			if p := &t.list[i]; p.Parent == pid && p.ID.PID != pid && (!known || canBeParent(parent, *p)) && !yield(*p) {
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
	known map[int]knownProcess
	calls int
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
	pids, binary, err := listPIDs()
	if err != nil {
		return nil, err
	}
	m.calls++
	now := make(map[int]knownProcess, len(pids))
	for _, pid := range pids {
		p, known := m.known[pid]
		if !known {
			p.firstSeen = m.calls
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

// parallel calls work for each index below n, on all processors: a live list among 500 processes is half as long.
func parallel(n int, work func(i int)) {
	var group errgroup.Group
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() error {
			for i := w; i < n; i += workers {
				work(i)
			}
			return nil
		})
	}
	_ = group.Wait() // no work fails
}

// fileLock is a lock on a file, and the process that took it.
type fileLock struct {
	pid   int
	inode uint64
}

// LockHolders returns the pids of the processes that may hold a lock on one of the files, of whatever kind it is. It opens none of
// the files. It compares inodes only, since the kernel does not name the device of a lock as stat(2) does on every file system:
// look at what the process has open. A lock that was taken by a process which has ended, and left to another one, is not found.
// The result is empty on systems that do not list their locks.
func (t *Table) LockHolders(files ...string) (pids []int) {
	locks := t.locks()
	if len(locks) == 0 {
		return nil
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		inode, ok := inodeOf(info)
		for _, l := range locks {
			if ok && l.inode == inode && !slices.Contains(pids, l.pid) {
				pids = append(pids, l.pid)
			}
		}
	}
	return pids
}

func inodeOf(info fs.FileInfo) (uint64, bool) {
	st, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return st.Ino, true
}
