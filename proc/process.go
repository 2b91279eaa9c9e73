package proc

import (
	"path/filepath"
	"strconv"
	"time"
)

// Process is what the table holds of one process. The methods ask the kernel for more, on demand; each of them
// checks that the pid still belongs to this very process and returns [ErrGone] if not. A process of a [Table] is asked
// once for each fact, by whomever, and the answer is kept with the table; so is what it fails with.
type Process struct {
	ID ID
	// Ticks is the start time in clock ticks (10 ms) since boot, as agents record it (Linux; 0 elsewhere).
	Ticks uint64
	// Parent, Group and Session are pids; Parent is 1 (or a subreaper's) once the real one has died. Group and
	// Session are 0 where the system does not tell (macOS has no Session here, other systems neither).
	Parent, Group, Session int
	// UID is the effective user, as ps(1) shows it; -1 where it is not known.
	UID int
	// State is that of the main thread, or of another one where the main thread has ended before the process.
	State State
	// Name is the kernel's short name (Linux comm, at most 15 bytes; macOS at most 16); any byte may occur in it.
	Name string
	// Exe is the path of the running binary without the kernel's " (deleted)" mark; "" for kernel threads and
	// where it may not be read.
	Exe string
	// Deleted: the binary was replaced or removed while it ran.
	Deleted bool
	// ForkNoExec: it was forked and has executed no program since, so that its binary is that of who forked it (Linux; false
	// elsewhere).
	ForkNoExec bool
	// Started is the wall-clock start, for display only: it moves when the clock is set. Linux: to about a second,
	// but the same in every reading; zero where it is not known.
	Started time.Time

	begun time.Time
	src   source
}

// PreciseStart is the wall-clock start by the clocks as they stand now, to tell what came before it from what came after: on
// Linux to 10 ms, where Started may be a second too early, but not the same in every reading. A clock that was set since
// moves it, too. Zero where it is not known.
func (p Process) PreciseStart() time.Time {
	if p.begun.IsZero() {
		return p.Started
	}
	return p.begun
}

// StartedBefore reports whether the process had begun by the time that another clock's reading tells: what an agent noted then can
// be this process's. It errs to yes, by no more than the clocks' fineness and [Process.Begun]'s.
func (p Process) StartedBefore(t time.Time) bool {
	const blur = 50 * time.Millisecond
	return !t.Before(p.PreciseStart().Add(-blur))
}

// Alive reports whether the process ran when the table was taken; a zombie did not.
func (p Process) Alive() bool { return !p.State.Dead() }

// Uncached is the same process without what its table keeps of it: what is asked of it is true when it is asked. It is for
// those who are about to act on the answer.
func (p Process) Uncached() Process {
	if k, ok := p.src.(*kept); ok {
		p.src = k.from
	}
	return p
}

// Args is the command line. Agents may rewrite it, so it is a hint, not evidence. Empty arguments at its end are
// left out: a rewritten one is padded with them. It is empty for kernel threads.
func (p Process) Args() ([]string, error) { return p.source().args(p) }

// Cwd is the working directory with symbolic links resolved, without the kernel's " (deleted)" mark. It fails with
// [ErrElsewhere] where that path does not lead to the same directory here.
func (p Process) Cwd() (string, error) { return p.source().dir(p) }

// Env returns those of the named environment variables that the process was started with. Nothing else of the
// environment is kept: it holds secrets.
func (p Process) Env(keys ...string) (map[string]string, error) { return p.source().env(p, keys) }

// OpenFiles returns the open files whose path match accepts, with access mode, offset and locks, by ascending
// descriptor. The path given to match has no " (deleted)" mark. Match is also shown the kernel's names of descriptors
// that are no files ("anon_inode:inotify", "socket:[4711]"; Linux only), but those are never returned. It may be shown a
// name twice, and must not ask the process anything.
func (p Process) OpenFiles(match func(path string) bool) ([]OpenFile, error) {
	return p.source().openFiles(p, match)
}

// ListenPorts returns the TCP ports the process listens on, ascending.
func (p Process) ListenPorts() ([]int, error) { return p.source().listenPorts(p, nil, systemListeners) }

// NamespacePIDs returns the process's pid in each pid namespace from ours to its own: the last one is what the
// process itself believes to be its pid. Outside of containers it has one element.
func (p Process) NamespacePIDs() ([]int, error) {
	s, err := p.Credentials()
	return s.PIDs, err
}

// PIDNamespace names the process's pid namespace, as in "pid:[4026531836]"; "" on systems without such namespaces.
func (p Process) PIDNamespace() (string, error) { return p.source().pidNamespace(p) }

// SamePath reports whether an absolute path names the same file for the process as for us, by device and inode where the
// process has a mount namespace or root directory of its own. A path that names no file for either is not the same.
func (p Process) SamePath(path string) (bool, error) { return p.source().samePath(p, path) }

// SharesRoot reports whether every absolute path means the same for the process as for us: it has our mount namespace and
// our root directory.
func (p Process) SharesRoot() (bool, error) { return p.source().sharesRoot(p) }

// PathInRoot is a path of the process as it is reached through its own root directory (Linux). It is a name for what is not
// ours; whoever opens it must know that the process chooses what lies there.
func (p Process) PathInRoot(path string) string {
	return filepath.Join("/proc", strconv.Itoa(p.ID.PID), "root", path)
}

func (p Process) source() source {
	if p.src == nil {
		return system()
	}
	return p.src
}

// OpenFile is one open file of a process.
type OpenFile struct {
	FD int
	// Path as the kernel names it, without " (deleted)"; Deleted says whether the mark was there (Linux).
	Path    string
	Deleted bool
	// PathDiffers: here, Path names another file, or none, since the process has a mount namespace or root directory of its
	// own, or since something was mounted over the file (Linux). Only Proc leads to the file then.
	PathDiffers bool
	// Writable: opened for writing (O_WRONLY or O_RDWR).
	Writable bool
	// Offset is the file position in bytes. For a file opened O_APPEND it is the end of the last block that this
	// very open file wrote.
	Offset int64
	// WriteLocked: this open file holds an exclusive flock(2), ReadLocked: a shared one (Linux; macOS does not tell).
	WriteLocked, ReadLocked bool
	// Proc is a path through which the very file can be opened even if its name is gone ("" where there is none).
	Proc string
}

// source answers the on-demand questions: the operating system, or the facts of a test.
type source interface {
	args(Process) ([]string, error)
	dir(Process) (string, error)
	env(Process, []string) (map[string]string, error)
	openFiles(Process, func(string) bool) ([]OpenFile, error)
	// listenPorts is given the names of the descriptors, as openFiles shows them, where they are known, and whom to ask for
	// the listeners of our own network namespace.
	listenPorts(p Process, names []string, ours listeners) ([]int, error)
	pidNamespace(Process) (string, error)
	sharesRoot(Process) (bool, error)
	samePath(p Process, path string) (bool, error)
	standing(Process) (Credentials, error)
	usage(Process) (Usage, error)
	written(Process) (int64, error)
	holder(Process, connection) (holder, error)
}
