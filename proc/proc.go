// Package proc is the process table: who runs, since when, under whom.
//
// Its one idea is identity. A pid is a number that the kernel hands out again; a process is a pid together with
// its birth. Every fact this package returns is tied to an [ID], and nothing is signalled whose ID was not
// re-checked through a [Handle] just before. The package knows no agent.
package proc

import (
	"errors"
	"fmt"
	"iter"
	"time"
)

// Errors of this package; compare with errors.Is.
var (
	// ErrGone: no process with this ID exists any more; its pid may belong to another one.
	ErrGone = errors.New("process is gone")
	// ErrUnsupported: this operating system does not tell.
	ErrUnsupported = errors.New("not available on this operating system")
)

// ID identifies one process for ever: two processes never share one, even when they share a pid.
type ID struct {
	// PID is the process id as this process's pid namespace numbers it.
	PID int
	// Birth is opaque and compared with ==. Linux: boot id and start ticks (/proc/PID/stat field 22);
	// macOS: start time in seconds and microseconds.
	Birth string
}

// IsZero reports whether id names no process.
func (id ID) IsZero() bool { return id == ID{} }

// String is for messages: the pid alone.
func (id ID) String() string { return fmt.Sprintf("pid %d", id.PID) }

// State is the kernel's one-letter process state, as in ps(1); 0 where it is not known.
type State byte

// Dead reports whether the process has ended, though its parent may not have collected it: a zombie is dead.
func (s State) Dead() bool { return s == 'Z' || s == 'X' || s == 'x' }

// Stopped reports whether the process is suspended (SIGSTOP, ^Z, a debugger).
func (s State) Stopped() bool { return s == 'T' || s == 't' }

// Process is what the table holds of one process. The methods ask the kernel for more, on demand; each of them
// checks that the pid still belongs to this very process and returns [ErrGone] if not.
type Process struct {
	ID ID
	// Ticks is the start time in clock ticks since boot, as agents record it (Linux; 0 elsewhere).
	Ticks uint64
	// Parent, Group and Session are pids; Parent is 1 (or a subreaper's) once the real one has died.
	Parent, Group, Session int
	// UID is the real owner; -1 where it is not known.
	UID   int
	State State
	// Name is the kernel's short name (Linux comm, at most 15 bytes); any byte may occur in it.
	Name string
	// Exe is the path of the running binary without the kernel's " (deleted)" mark; "" for kernel threads and
	// where it may not be read.
	Exe string
	// Deleted: the binary was replaced or removed while it ran.
	Deleted bool
	// Started is the wall-clock start, for display only: it moves when the clock is set.
	Started time.Time

	src source
}

// Alive reports whether the process ran when the table was taken; a zombie did not.
func (p Process) Alive() bool { return !p.State.Dead() }

// Args is the command line. Agents may rewrite it, so it is a hint, not evidence. It is empty for kernel threads.
func (p Process) Args() ([]string, error) { return p.source().args(p) }

// Dir is the working directory with symbolic links resolved, without the kernel's " (deleted)" mark.
func (p Process) Dir() (string, error) { return p.source().dir(p) }

// Env returns those of the named environment variables that the process was started with. Nothing else of the
// environment is kept: it holds secrets.
func (p Process) Env(keys ...string) (map[string]string, error) { return p.source().env(p, keys) }

// OpenFiles returns the open files whose path match accepts, with access mode, offset and locks. The path given
// to match has no " (deleted)" mark; pipes and sockets have none and are left out.
func (p Process) OpenFiles(match func(path string) bool) ([]OpenFile, error) {
	return p.source().openFiles(p, match)
}

// ListenPorts returns the TCP ports the process listens on, ascending.
func (p Process) ListenPorts() ([]int, error) { return p.source().listenPorts(p) }

// NamespacePIDs returns the process's pid in each pid namespace from ours to its own: the last one is what the
// process itself believes to be its pid. Outside of containers it has one element.
func (p Process) NamespacePIDs() ([]int, error) { return p.source().namespacePIDs(p) }

// PIDNamespace names the process's pid namespace, as in "pid:[4026531836]".
func (p Process) PIDNamespace() (string, error) { return p.source().pidNamespace(p) }

func (p Process) source() source {
	if p.src == nil {
		return kernel{}
	}
	return p.src
}

// OpenFile is one open file of a process.
type OpenFile struct {
	FD int
	// Path as the kernel names it, without " (deleted)"; Deleted says whether the mark was there.
	Path    string
	Deleted bool
	// Writable: opened for writing (O_WRONLY or O_RDWR).
	Writable bool
	// Offset is the file position in bytes. For a file opened O_APPEND it is the end of the last block that this
	// very open file wrote.
	Offset int64
	// WriteLocked: this open file holds an exclusive flock(2).
	WriteLocked bool
	// Proc is a path through which the very file can be opened even if its name is gone ("" where there is none).
	Proc string
}

// source answers the on-demand questions: the kernel, or the facts of a test.
type source interface {
	args(Process) ([]string, error)
	dir(Process) (string, error)
	env(Process, []string) (map[string]string, error)
	openFiles(Process, func(string) bool) ([]OpenFile, error)
	listenPorts(Process) ([]int, error)
	namespacePIDs(Process) ([]int, error)
	pidNamespace(Process) (string, error)
}

// Table is an immutable snapshot of the process table.
type Table struct {
	list     []Process // ascending by pid
	index    map[int]int
	children map[int][]int
	hidden   int
}

func newTable(list []Process) *Table {
	t := &Table{list: list, index: make(map[int]int, len(list))}
	for i, p := range list {
		t.index[p.ID.PID] = i
	}
	return t
}

// Len is the number of processes seen.
func (t *Table) Len() int { return len(t.list) }

// All yields every process, zombies included, by ascending pid.
func (t *Table) All() iter.Seq[Process] {
	return func(yield func(Process) bool) {
		for _, p := range t.list {
			if !yield(p) {
				return
			}
		}
	}
}

// Find returns the live process with this identity. A zombie, a vanished process and a pid that belongs to
// another process by now are all not found.
func (t *Table) Find(id ID) (Process, bool) {
	p, ok := t.PID(id.PID)
	if !ok || p.ID != id || !p.Alive() {
		return Process{}, false
	}
	return p, true
}

// PID returns whatever process had this pid when the table was taken, a zombie too.
func (t *Table) PID(pid int) (Process, bool) {
	i, ok := t.index[pid]
	if !ok {
		return Process{}, false
	}
	return t.list[i], true
}

// Ancestors yields the parent of pid, its parent, and so on up to the first process.
func (t *Table) Ancestors(pid int) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		for range t.list { // a cycle cannot outlast the table
			p, ok := t.PID(pid)
			if !ok || p.Parent == pid {
				return
			}
			if p, ok = t.PID(p.Parent); !ok || !yield(p) {
				return
			}
			pid = p.ID.PID
		}
	}
}

// Children yields the direct children of pid by ascending pid.
func (t *Table) Children(pid int) iter.Seq[Process] {
	return func(yield func(Process) bool) {
		for _, p := range t.list {
			if p.Parent == pid && p.ID.PID != pid && !yield(p) {
				return
			}
		}
	}
}
