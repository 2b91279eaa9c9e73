package codex

import (
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"

	"agentctl/proc"
)

// isThreadFile reports whether an open file of this name can link its process to a thread.
func isThreadFile(path string) bool {
	base := filepath.Base(path)
	if _, ok := parseRolloutName(base); ok {
		return true
	}
	_, ok := parseLockName(base)
	return ok && filepath.Base(filepath.Dir(path)) == locksDir
}

// openFiles is what a process's descriptors show.
type openFiles struct {
	threads []threadFiles // by ID
	// watchesFiles: the process has an inotify descriptor. A process that runs threads watches their configuration, from before its
	// first thread on. A TUI that shows the daemon's threads does not (SEEN 0.104, 0.169; Linux).
	watchesFiles bool
	// descriptorsNamed: the kernel names descriptors that are not files, so that a missing inotify descriptor means something.
	descriptorsNamed bool
	// ofHome: it has a file of a home open that only Codex keeps open. A client of the daemon has its own lock among them.
	ofHome bool
}

// isHomeFile reports whether a path is that of a file that every Codex process has open while it runs: its databases, or the lock of its
// directory of links (SEEN 0.130–0.171).
func isHomeFile(path string) bool {
	base := filepath.Base(path)
	return strings.HasSuffix(base, ".sqlite") && (strings.HasPrefix(base, "state_") || strings.HasPrefix(base, "logs_")) ||
		base == ".lock" && strings.HasPrefix(filepath.Base(filepath.Dir(path)), "codex-arg0")
}

// threadFiles is the evidence for one thread: the lock that the process holds, the rollout that it writes, or both.
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
		e.ofHome = e.ofHome || isHomeFile(path)
		return isThreadFile(path)
	})
	for _, f := range files {
		e.add(f)
	}
	e.ofHome = e.ofHome || len(e.threads) > 0
	sort.Slice(e.threads, func(i, j int) bool { return e.threads[i].id < e.threads[j].id })
	return e, err
}

// add records an open file if it is evidence. A Codex process also opens rollouts of other threads for reading when it starts, and
// lock files of others to see whether they are locked.
func (e *openFiles) add(f proc.OpenFile) {
	base := filepath.Base(f.Path)
	if name, ok := parseRolloutName(base); ok && f.Writable {
		e.thread(name.id).rollout = &f
	}
	if id, ok := parseLockName(base); ok && isLockHeld(f) {
		e.thread(id).lock = &f
	}
}

// isLockHeld reports whether a lock file is locked through this descriptor. Only Linux shows that. Elsewhere a lock file that is open
// for writing counts as locked.
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
