package proc

import (
	"path/filepath"
	"strconv"
	"strings"
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

	preciseStart time.Time
	impl         backend
}

// PreciseStart is the wall-clock start by the clocks as they stand now, to tell what came before it from what came after: on
// Linux to 10 ms, where Started may be a second too early, but not the same in every reading. A clock that was set since
// moves it, too. Zero where it is not known.
func (p Process) PreciseStart() time.Time {
	if p.preciseStart.IsZero() {
		return p.Started
	}
	return p.preciseStart
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
	if k, ok := p.impl.(*cachedBackend); ok {
		p.impl = k.from
	}
	return p
}

// Args is the command line. Agents may rewrite it, so it is a hint, not evidence. Empty arguments at its end are
// left out: a rewritten one is padded with them. It is empty for kernel threads.
func (p Process) Args() ([]string, error) { return p.backend().args(p) }

// Cwd is the working directory with symbolic links resolved, without the kernel's " (deleted)" mark. It fails with
// [ErrElsewhere] where that path does not lead to the same directory here.
func (p Process) Cwd() (string, error) { return p.backend().cwd(p) }

// Env returns those of the named environment variables that the process was started with. Nothing else of the
// environment is kept: it holds secrets.
func (p Process) Env(keys ...string) (map[string]string, error) { return p.backend().env(p, keys) }

// OpenFiles returns the open files whose path match accepts, with access mode, offset and locks, by ascending
// descriptor. The path given to match has no " (deleted)" mark. Match is also shown the kernel's names of descriptors
// that are no files ("anon_inode:inotify", "socket:[4711]"; Linux only), but those are never returned. It may be shown a
// name twice, and must not ask the process anything.
func (p Process) OpenFiles(match func(path string) bool) ([]OpenFile, error) {
	return p.backend().openFiles(p, match)
}

// ListenPorts returns the TCP ports the process listens on, ascending.
func (p Process) ListenPorts() ([]int, error) {
	return p.backend().listenPorts(p, nil, systemListeners)
}

// NamespacePIDs returns the process's pid in each pid namespace from ours to its own: the last one is what the
// process itself believes to be its pid. Outside of containers it has one element.
func (p Process) NamespacePIDs() ([]int, error) {
	s, err := p.Credentials()
	return s.PIDs, err
}

// PIDNamespace names the process's pid namespace, as in "pid:[4026531836]"; "" on systems without such namespaces.
func (p Process) PIDNamespace() (string, error) { return p.backend().pidNamespace(p) }

// SamePath reports whether an absolute path names the same file for the process as for us, by device and inode where the
// process has a mount namespace or root directory of its own. A path that names no file for either is not the same.
func (p Process) SamePath(path string) (bool, error) { return p.backend().samePath(p, path) }

// SharesRoot reports whether every absolute path means the same for the process as for us: it has our mount namespace and
// our root directory.
func (p Process) SharesRoot() (bool, error) { return p.backend().sharesRoot(p) }

// PathInRoot is a path of the process as it is reached through its own root directory (Linux). It is a name for what is not
// ours; whoever opens it must know that the process chooses what lies there.
func (p Process) PathInRoot(path string) string {
	return filepath.Join("/proc", strconv.Itoa(p.ID.PID), "root", path)
}

func (p Process) backend() backend {
	if p.impl == nil {
		return system()
	}
	return p.impl
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

// backend answers the on-demand questions: the operating system, or the facts of a test.
type backend interface {
	args(Process) ([]string, error)
	cwd(Process) (string, error)
	env(Process, []string) (map[string]string, error)
	openFiles(Process, func(string) bool) ([]OpenFile, error)
	// listenPorts is given the names of the descriptors, as openFiles shows them, where they are known, and whom to ask for
	// the listeners of our own network namespace.
	listenPorts(p Process, names []string, ours listenersFunc) ([]int, error)
	pidNamespace(Process) (string, error)
	sharesRoot(Process) (bool, error)
	samePath(p Process, path string) (bool, error)
	credentials(Process) (Credentials, error)
	usage(Process) (Usage, error)
	bytesWritten(Process) (int64, error)
	peer(Process, connection) (peer, error)
}

// listenersFunc asks for the listeners of our own network namespace. The processes of a table share one answer: each would ask
// for those of all the others as well.
type listenersFunc func() ([]listener, error)

// Usage is what a process has used of the machine by the moment of asking.
type Usage struct {
	// CPU is the time its threads, ended ones too, have run in user and kernel mode; that of its children is not in it.
	// One reading tells no rate but the mean since the start. Linux counts it in ticks of 10 ms.
	CPU time.Duration
	// Memory is what it has in physical memory, in bytes. Pages that it shares count in each process that has them: a
	// sum over processes is an upper bound.
	Memory int64
}

// Usage returns what the process has used (Linux: /proc/PID/stat and statm; macOS: proc_info's PROC_PIDTASKINFO). On
// Linux any process's may be read, on macOS only one's own.
func (p Process) Usage() (Usage, error) { return p.backend().usage(p) }

// BytesWritten is how many bytes the process has written by the moment of asking, into whatever it was (Linux: wchar of
// /proc/PID/io; [ErrUnsupported] elsewhere). It cannot have written a file that is longer.
func (p Process) BytesWritten() (int64, error) { return p.backend().bytesWritten(p) }

// ProgramName is the name of a program by the path of its file, or by the kernel's short name: what follows the last slash,
// but for what Nix puts around it. That hides a program behind a script of its name, and calls it .claude-wrapped, with
// a _ more for each time that it is wrapped again (READ nixpkgs make-wrapper.sh). The short name may be cut (.opencode-wrapp).
func ProgramName(path string) string {
	base := filepath.Base(path)
	name, hidden := strings.CutPrefix(base, ".")
	at := strings.LastIndex(name, "-wrap")
	if !hidden || at <= 0 || !strings.HasPrefix("-wrapped", strings.TrimRight(name[at:], "_")) {
		return base
	}
	return name[:at]
}
