package codex

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"agentctl/proc"
)

// isEvidence reports whether an open file by this name may tie its process to a thread.
func isEvidence(path string) bool {
	base := filepath.Base(path)
	if _, ok := parseRollout(base); ok {
		return true
	}
	_, ok := parseLock(base)
	return ok && filepath.Base(filepath.Dir(path)) == locksDir
}

// isHistory reports whether a home's file is the database of what threads said, thread_history_1.sqlite in 0.169 and not there
// before 0.150. The number changes with what is in it.
func isHistory(name string) bool {
	return strings.HasPrefix(name, "thread_history_") && strings.HasSuffix(name, ".sqlite")
}

// evidence is what a process's open files show.
type evidence struct {
	threads []thread // by id
	// watches: the process watches files. A process that runs threads watches their configuration for changes, from
	// before its first thread on; a TUI that shows the daemon's threads does not (SEEN 0.104, 0.169; Linux).
	watches bool
	// told: the kernel names descriptors that are no files, so that watches means something.
	told bool
	// history: the process has the database of what threads said open. It opens that with its first thread, just after it has
	// taken the thread's lock, and keeps it until it ends (SEEN 0.169).
	history bool
}

// thread is the evidence about one thread: the lock it holds and the rollout it writes, or one of them.
type thread struct {
	id            string
	lock, rollout *proc.OpenFile
}

func gather(p proc.Process) (evidence, error) {
	var e evidence
	files, err := p.OpenFiles(func(path string) bool {
		if name, ok := strings.CutPrefix(path, "anon_inode:"); ok {
			e.told = true
			e.watches = e.watches || name == "inotify"
		}
		e.history = e.history || isHistory(filepath.Base(path))
		return isEvidence(path)
	})
	for _, f := range files {
		e.add(f)
	}
	slices.SortFunc(e.threads, func(a, b thread) int { return strings.Compare(a.id, b.id) })
	return e, err
}

// add takes an open file as evidence if it is: a codex process opens other threads' rollouts for reading when it
// starts, and the locks of others to see whether they are held.
func (e *evidence) add(f proc.OpenFile) {
	base := filepath.Base(f.Path)
	if name, ok := parseRollout(base); ok && f.Writable {
		e.thread(name.id).rollout = &f
	}
	if id, ok := parseLock(base); ok && isHeld(f) {
		e.thread(id).lock = &f
	}
}

// isHeld reports whether a lock file is locked through this very descriptor. Only Linux tells; elsewhere a lock file
// that is open for writing is taken for held.
func isHeld(f proc.OpenFile) bool {
	return f.WriteLocked || runtime.GOOS != "linux" && f.Writable
}

func (e *evidence) thread(id string) *thread {
	i := slices.IndexFunc(e.threads, func(t thread) bool { return t.id == id })
	if i < 0 {
		i = len(e.threads)
		e.threads = append(e.threads, thread{id: id})
	}
	return &e.threads[i]
}
