package codex

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"agentctl/proc"
)

// isThreadFile reports whether an open file by this name may tie its process to a thread.
func isThreadFile(path string) bool {
	base := filepath.Base(path)
	if _, ok := parseRolloutName(base); ok {
		return true
	}
	_, ok := parseLockName(base)
	return ok && filepath.Base(filepath.Dir(path)) == locksDir
}

// isHistoryDB reports whether a home's file is the database of what threads said, thread_history_1.sqlite in 0.169 and not there
// before 0.150. The number changes with what is in it.
func isHistoryDB(name string) bool {
	return strings.HasPrefix(name, "thread_history_") && strings.HasSuffix(name, ".sqlite")
}

// openFiles is what a process's open files show.
type openFiles struct {
	threads []threadFiles // by id
	// watchesFiles: the process watches files. A process that runs threads watches their configuration for changes, from
	// before its first thread on; a TUI that shows the daemon's threads does not (SEEN 0.104, 0.169; Linux).
	watchesFiles bool
	// descriptorsNamed: the kernel names descriptors that are no files, so that watches means something.
	descriptorsNamed bool
	// historyDB: the process has the database of what threads said open. It opens that with its first thread, just after it has
	// taken the thread's lock, and keeps it until it ends (SEEN 0.169).
	historyDB bool
}

// threadFiles is the evidence about one thread: the lock it holds and the rollout it writes, or one of them.
type threadFiles struct {
	id            string
	lock, rollout *proc.OpenFile
}

func readOpenFiles(p proc.Process) (openFiles, error) {
	var e openFiles
	files, err := p.OpenFiles(func(path string) bool {
		if name, ok := strings.CutPrefix(path, "anon_inode:"); ok {
			e.descriptorsNamed = true
			e.watchesFiles = e.watchesFiles || name == "inotify"
		}
		e.historyDB = e.historyDB || isHistoryDB(filepath.Base(path))
		return isThreadFile(path)
	})
	for _, f := range files {
		e.add(f)
	}
	slices.SortFunc(e.threads, func(a, b threadFiles) int { return strings.Compare(a.id, b.id) })
	return e, err
}

// add takes an open file as evidence if it is: a codex process opens other threads' rollouts for reading when it
// starts, and the locks of others to see whether they are held.
func (e *openFiles) add(f proc.OpenFile) {
	base := filepath.Base(f.Path)
	if name, ok := parseRolloutName(base); ok && f.Writable {
		e.thread(name.id).rollout = &f
	}
	if id, ok := parseLockName(base); ok && isLockHeld(f) {
		e.thread(id).lock = &f
	}
}

// isLockHeld reports whether a lock file is locked through this very descriptor. Only Linux tells; elsewhere a lock file
// that is open for writing is taken for held.
func isLockHeld(f proc.OpenFile) bool {
	return f.WriteLocked || runtime.GOOS != "linux" && f.Writable
}

func (e *openFiles) thread(id string) *threadFiles {
	i := slices.IndexFunc(e.threads, func(t threadFiles) bool { return t.id == id })
	if i < 0 {
		i = len(e.threads)
		e.threads = append(e.threads, threadFiles{id: id})
	}
	return &e.threads[i]
}
