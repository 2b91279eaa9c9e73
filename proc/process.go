// Package proc reads the process table and single processes.
//
// A process is identified by its pid together with its start time ([ID]), since the kernel reuses pids. Every fact that
// this package returns belongs to an ID, and a signal is sent only through a [Handle], which checks the ID again
// immediately before. The package knows no agent.
package proc

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Errors of this package; compare with errors.Is. A fact that may not be read, such as one of another user's process,
// fails with an error that is fs.ErrPermission.
var (
	// ErrGone: no process with this ID exists any more. Its pid may belong to another process.
	ErrGone = errors.New("process is gone")
	// ErrNamespace: the mounted process table is that of another pid namespace (Linux; after unshare(1) without
	// --mount-proc, for example). Its pids are not those that kill(2) takes and getpid(2) returns here.
	ErrNamespace = errors.New("the process table shows the processes of another pid namespace")
	// ErrPathDiffers: the process has another root directory or mount namespace than this one, and its path names another
	// file here, or none.
	ErrPathDiffers = errors.New("its path names another file here: it has a mount namespace or root directory of its own")
	// ErrUnsupported: this operating system does not provide the fact.
	ErrUnsupported = errors.New("not available on this operating system")
)

// ID identifies one process for ever: two processes never have the same ID, even if they have the same pid.
type ID struct {
	// PID is the process id as this process's pid namespace numbers it.
	PID int
	// Birth identifies the start of the process. It is opaque; compare it with ==.
	//   - Linux: boot id and start time in clock ticks of 10 ms (/proc/PID/stat field 22). Two processes are confused
	//     only if the kernel assigns a pid twice within one tick.
	//   - macOS: start time in seconds and microseconds (kinfo_proc p_starttime).
	Birth string
}

// String returns the pid alone, for messages.
func (id ID) String() string { return fmt.Sprintf("pid %d", id.PID) }

// State is the kernel's one-letter process state, as in ps(1); 0 if unknown.
type State byte

// Dead reports whether the process has ended. A zombie, which its parent has not waited for, is dead.
func (s State) Dead() bool { return s == 'Z' || s == 'X' || s == 'x' }

// Stopped reports whether the process is suspended (SIGSTOP, ^Z, a debugger).
func (s State) Stopped() bool { return s == 'T' || s == 't' }

// Process is one process of a [Table]. Its fields were read with the table; its methods read more from the kernel when
// they are called. Each method checks that the pid still belongs to this process, and returns [ErrGone] if not.
type Process struct {
	ID ID
	// Ticks is the start time in clock ticks (10 ms) since boot, as agents record it (Linux; 0 elsewhere).
	Ticks uint64
	// Parent, Group and Session are pids. Parent is 1 (or that of a subreaper) once the real parent has died. Session
	// is 0 on macOS.
	Parent, Group, Session int
	// TTYDevice is the device number of the controlling terminal, as stat(2) has it; 0 if the process has none. See
	// [Process.TTY].
	TTYDevice uint64
	// UID is the effective user, as ps(1) shows it; -1 if unknown.
	UID int
	// State is the state of the main thread, or of another one once that has ended.
	State State
	// Name is the kernel's short name (Linux comm, at most 15 bytes; macOS at most 16); any byte may occur in it.
	Name string
	// Exe is the path of the running binary without the kernel's " (deleted)" suffix. It is "" for kernel threads and
	// where it may not be read.
	Exe string
	// Deleted reports that the binary was replaced or removed since the process executed it.
	Deleted bool
	// ForkNoExec reports that the process was forked and has executed no program since, so that its binary is its
	// parent's (Linux, PF_FORKNOEXEC; false elsewhere).
	ForkNoExec bool
	// Started is the start by the wall clock, for display only: it changes when the clock is set. On Linux it is precise
	// to about a second, but the same in every reading. It is zero if unknown.
	Started time.Time

	// Arg0 is the first argument, a hint as Name is.
	Arg0 string
	// Backend answers the methods of the process; nil: the operating system does.
	Backend Backend

	preciseStart time.Time
	threads      int // how many threads it has; 0 if unknown
}

// PreciseStart returns the start by the present wall clock, to order it with other events. On Linux it is precise to 10
// ms, while Started may be a second too early; but it differs a little between readings. It changes when the clock is
// set. It is zero if unknown.
func (p Process) PreciseStart() time.Time {
	if p.preciseStart.IsZero() {
		return p.Started
	}
	return p.preciseStart
}

// StartedBefore reports whether the process had started at t, a time that an agent recorded, so that the record can be
// this process's. It allows for 50 ms of imprecision of both clocks, and returns true in doubt.
func (p Process) StartedBefore(t time.Time) bool {
	const blur = 50 * time.Millisecond
	return !t.Before(p.PreciseStart().Add(-blur))
}

// Alive reports whether the process was running when the table was read. A zombie was not.
func (p Process) Alive() bool { return !p.State.Dead() }

// Args returns the command line. Agents may rewrite it, so it is a hint, not evidence. Empty arguments at its end are
// omitted, since a rewritten command line is padded with them. It is empty for kernel threads.
func (p Process) Args() ([]string, error) { return p.backend().Args(p) }

// Cwd returns the working directory with symbolic links resolved, without the kernel's " (deleted)" suffix. It fails with
// [ErrPathDiffers] if that path does not lead to the same directory here.
func (p Process) Cwd() (string, error) { return p.backend().Cwd(p) }

// Env returns those of the named environment variables that the process was started with. Nothing else of the environment
// is kept, since it holds secrets.
func (p Process) Env(keys ...string) (map[string]string, error) { return p.backend().Env(p, keys) }

// MayHaveEnv is false if the process was not started with any of the named environment variables, or has ended. It costs half as much as
// [Process.Env].
func (p Process) MayHaveEnv(keys ...string) bool { return p.backend().MayHaveEnv(p, keys) }

// OpenFiles returns the open files whose path match accepts, by ascending descriptor, with access mode, offset and locks.
// The path that match gets has no " (deleted)" suffix. match is also called with the kernel's names of descriptors that
// are not files ("anon_inode:inotify", "socket:[4711]"; Linux only), but these are never returned. match may get a name
// twice, and must not call methods of the process.
func (p Process) OpenFiles(match func(path string) bool) ([]OpenFile, error) {
	return p.backend().OpenFiles(p, match)
}

// ListenPorts returns the TCP ports that the process listens on, ascending.
func (p Process) ListenPorts() ([]int, error) { return p.backend().ListenPorts(p) }

// NamespacePIDs returns the pid of the process in each pid namespace, from ours to its own: the last one is what
// getpid(2) returns in the process. Outside of containers it has one element.
func (p Process) NamespacePIDs() ([]int, error) {
	s, err := p.Credentials()
	return s.PIDs, err
}

// NamespacePID returns the pid of the process in its own pid namespace, which differs from ours in a container; ours if that is not known.
func (p Process) NamespacePID() int {
	pids, err := p.NamespacePIDs()
	if err != nil || len(pids) == 0 {
		return p.ID.PID
	}
	return pids[len(pids)-1]
}

// SamePath reports whether an absolute path names the same file for the process as for this one. If the process has a
// mount namespace or root directory of its own, device and inode are compared. A path that names no file for one of them
// is not the same.
func (p Process) SamePath(path string) (bool, error) { return p.backend().SamePath(p, path) }

// SharesRoot reports whether every absolute path means the same for the process as for this one: it has our mount
// namespace and our root directory.
func (p Process) SharesRoot() (bool, error) { return p.backend().SharesRoot(p) }

// TTY returns the path of the controlling terminal, such as /dev/pts/3; "" if the process has none. It fails with
// [ErrPathDiffers] if the path names another device here, or none: each container numbers its terminals itself.
func (p Process) TTY() (string, error) {
	if p.TTYDevice == 0 {
		return "", nil
	}
	return p.backend().TTY(p)
}

// PathInRoot returns a path that names, here, what path names in the root directory of the process (Linux). The process
// decides what is there: open it as untrusted input.
func (p Process) PathInRoot(path string) string {
	return filepath.Join("/proc", strconv.Itoa(p.ID.PID), "root", path)
}

func (p Process) backend() Backend {
	if p.Backend == nil {
		return System()
	}
	return p.Backend
}

// OpenFile is one open file of a process.
type OpenFile struct {
	FD int
	// Path is the kernel's name of the file without " (deleted)"; Deleted reports whether it had that suffix (Linux).
	Path    string
	Deleted bool
	// PathDiffers reports that Path names another file here, or none: the process has a mount namespace or root directory
	// of its own, or something was mounted over the file (Linux). Then the file can be opened only by Proc.
	PathDiffers bool
	// Writable: the file was opened for writing (O_WRONLY or O_RDWR).
	Writable bool
	// Offset is the file position in bytes. For a file opened with O_APPEND it is the end of the last block that was
	// written through this open file.
	Offset int64
	// WriteLocked: this open file holds an exclusive flock(2); ReadLocked: a shared one (Linux; unknown on macOS).
	WriteLocked, ReadLocked bool
	// Proc is a path by which this file can be opened even if its name was removed; "" where there is none.
	Proc string
}

// IsLocked reports whether this open file holds an exclusive lock. Where the system does not show locks, a file that is open for writing
// counts as locked.
func (f OpenFile) IsLocked() bool { return f.WriteLocked || runtime.GOOS != "linux" && f.Writable }

// Backend reads the facts that the methods of a [Process] return, from the operating system.
type Backend interface {
	Args(Process) ([]string, error)
	Cwd(Process) (string, error)
	Env(Process, []string) (map[string]string, error)
	// MayHaveEnv is false if the process was not started with any of the variables, or has ended.
	MayHaveEnv(Process, []string) bool
	OpenFiles(Process, func(string) bool) ([]OpenFile, error)
	ListenPorts(Process) ([]int, error)
	// TTY is asked only for a process with a controlling terminal.
	TTY(Process) (string, error)
	SharesRoot(Process) (bool, error)
	SamePath(p Process, path string) (bool, error)
	Credentials(Process) (Credentials, error)
	Usage(Process) (Usage, error)
	Activity(Process) (Activity, error)
	Peer(Process, Connection) (Peer, error)
}

// Usage is what a process uses at the moment of the call.
type Usage struct {
	// CPU is the time that its threads, ended ones included, have run in user and kernel mode, without its children. Its
	// quotient by the age of the process is the mean use since the start. Linux counts in ticks of 10 ms.
	CPU time.Duration
	// Memory is the resident memory in bytes. Shared pages count in each process that has them, so a sum over processes
	// is an upper bound.
	Memory int64
}

// Usage returns what the process uses (Linux: /proc/PID/stat and statm; macOS: proc_info's PROC_PIDTASKINFO). On macOS
// only processes of the same user can be read.
func (p Process) Usage() (Usage, error) { return p.backend().Usage(p) }

// ProgramName returns the name of a program from the path of its file, or from the kernel's short name: the part after
// the last slash. It undoes the wrapping of Nix, which hides a program behind a script of its name and calls it
// .claude-wrapped, with one more _ for each further wrapping (READ nixpkgs make-wrapper.sh). The short name may be
// truncated (.opencode-wrapp).
func ProgramName(path string) string {
	base := filepath.Base(path)
	name, hidden := strings.CutPrefix(base, ".")
	at := strings.LastIndex(name, "-wrap")
	if !hidden || at <= 0 || !strings.HasPrefix("-wrapped", strings.TrimRight(name[at:], "_")) {
		return base
	}
	return name[:at]
}

// Namespaces is a set of kinds of namespaces (Linux; other systems have none).
type Namespaces uint8

// Each kind of namespace gives a meaning to one kind of fact about a process.
const (
	// UserNamespace: user IDs.
	UserNamespace Namespaces = 1 << iota
	// PIDNamespace: pids.
	PIDNamespace
	// MountNamespace: paths. A process with another root directory than ours counts as in another mount namespace.
	MountNamespace
	// NetworkNamespace: ports.
	NetworkNamespace
)

// Credentials are the user of a process and its namespaces: whether its user IDs, pids, paths and ports mean the same
// here.
type Credentials struct {
	// UID is the effective user, read together with the namespaces.
	UID int
	// PIDs are its pids in each pid namespace from ours to its own; see [Process.NamespacePIDs].
	PIDs []int
	// Unshared are the namespaces that the process does not share with us, and those for which that is unknown.
	Unshared Namespaces
}

// Credentials reads the user and the namespaces of the process. If the namespaces may not be read, all of them count as
// unshared.
func (p Process) Credentials() (Credentials, error) { return p.backend().Credentials(p) }

// selectEnv returns the named variables of an environment, which is NUL-terminated "KEY=value" strings. The first of two
// equal keys counts, as for getenv(3).
func selectEnv(environ []byte, keys []string) map[string]string {
	found := map[string]string{}
	for len(environ) > 0 { // not over bytes.SplitSeq: the caller's buffer would be allocated for each process
		variable, rest, _ := bytes.Cut(environ, []byte{0})
		environ = rest
		key, value, ok := bytes.Cut(variable, []byte{'='})
		if _, twice := found[string(key)]; ok && !twice && slices.Contains(keys, string(key)) {
			found[string(key)] = string(value)
		}
	}
	return found
}
