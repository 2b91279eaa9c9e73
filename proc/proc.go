// Package proc reads the process table and single processes.
//
// A process is identified by its pid together with its start time ([ID]), since the kernel reuses pids. Every fact that
// this package returns belongs to an ID, and a signal is sent only through a [Handle], which checks the ID again
// immediately before. The package knows no agent.
package proc

import (
	"errors"
	"fmt"
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

// IsZero reports whether id identifies no process.
func (id ID) IsZero() bool { return id == ID{} }

// String returns the pid alone, for messages.
func (id ID) String() string { return fmt.Sprintf("pid %d", id.PID) }

// State is the kernel's one-letter process state, as in ps(1); 0 if unknown.
type State byte

// Dead reports whether the process has ended. A zombie, which its parent has not waited for, is dead.
func (s State) Dead() bool { return s == 'Z' || s == 'X' || s == 'x' }

// Stopped reports whether the process is suspended (SIGSTOP, ^Z, a debugger).
func (s State) Stopped() bool { return s == 'T' || s == 't' }
