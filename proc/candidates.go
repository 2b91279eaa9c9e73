package proc

import (
	"iter"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// Signs are what a process can show that makes it worth asking whether it runs a certain program.
type Signs struct {
	// Name accepts the path of the binary, the short name or the first argument. Names prove nothing: anybody can call a process as
	// he likes, and a program can be installed under any name.
	Name func(string) bool
	// PIDs are processes that something else points at.
	PIDs []int
	// Locked returns files of which the process may hold a lock. A thorough table is not asked: it knows who has them open. It may be nil.
	Locked func() []string
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
		if signs.Locked != nil && !t.IsThorough() {
			signs.PIDs = append(slices.Clip(signs.PIDs), t.LockHolders(signs.Locked()...)...)
		}
		for i, p := range t.list {
			if (p.shows(signs) || t.showsThoroughly(i, signs)) && !p.ForkNoExec && (t.match == nil || t.match(p)) && !yield(p) {
				return
			}
		}
	}
}

// shows reports whether the process has one of the signs that every table knows.
func (p Process) shows(signs Signs) bool {
	return p.Exe == "" || slices.ContainsFunc([]string{p.Exe, p.Name, p.Arg0}, signs.Name) || slices.Contains(signs.PIDs, p.ID.PID)
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
		parallel(len(answers), func(i int) { answers[i] = t.list[i].isExamined() && t.list[i].hasEnv(keys) })
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
				files[i] = t.list[i].openNames()
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

// openNames returns the names of what the process has open; nil if they may not be read.
func (p Process) openNames() []string {
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

// hasEnv reports whether the process was started with any of the variables. Only if it seems so is it checked that it is still the
// same process: `status` takes a third less processor time among 500 processes.
func (p Process) hasEnv(keys []string) bool {
	if !p.MayHaveEnv(keys...) {
		return false
	}
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
		has := make([]bool, len(t.list))
		parallel(len(has), func(i int) { has[i] = t.list[i].hasEnv(keys) })
		for i, p := range t.list {
			if has[i] && !yield(p) {
				return
			}
		}
	}
}

// FileLock is a lock on a file, by its inode, and the process that took it.
type FileLock struct {
	PID   int
	Inode uint64
}

// LockHolders returns the pids of the processes that may hold a lock on one of the files, of whatever kind it is. It opens none of
// the files. It compares inodes only, since the kernel does not name the device of a lock as stat(2) does on every file system:
// look at what the process has open. A lock that was taken by a process which has ended, and left to another one, is not found.
// The result is empty on systems that do not list their locks.
func (t *Table) LockHolders(files ...string) (pids []int) {
	if t.locks == nil {
		return nil
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			continue
		}
		st, ok := info.Sys().(*syscall.Stat_t)
		for _, l := range t.locks() {
			if ok && l.Inode == st.Ino && !slices.Contains(pids, l.PID) {
				pids = append(pids, l.PID)
			}
		}
	}
	return pids
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
