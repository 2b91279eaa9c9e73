// Package proc is the process table: who runs, since when, under whom.
//
// Its one idea is identity. A pid is a number that the kernel hands out again; a process is a pid together with
// its birth. Every fact this package returns is tied to an [ID], and nothing is signalled whose ID was not
// re-checked through a [Handle] just before. The package knows no agent.
package proc

import (
	"errors"
	"fmt"
)

// Errors of this package; compare with errors.Is. A fact that may not be read (another user's process, say) fails
// with an error that is fs.ErrPermission.
var (
	// ErrGone: no process with this ID exists any more; its pid may belong to another one.
	ErrGone = errors.New("process is gone")
	// ErrNamespace: the process table that is mounted is that of another pid namespace than ours: its numbers are not those
	// that we may signal, nor that getpid(2) returns (after unshare(1) without --mount-proc, say; Linux).
	ErrNamespace = errors.New("the process table shows the processes of another pid namespace")
	// ErrPathDiffers: the process has another root directory or mount namespace than we, and what it names by a path is
	// another file here, or none.
	ErrPathDiffers = errors.New("its path names another file here: it has a mount namespace or root directory of its own")
	// ErrUnsupported: this operating system does not tell.
	ErrUnsupported = errors.New("not available on this operating system")
)

// ID identifies one process for ever: two processes never share one, even when they share a pid.
type ID struct {
	// PID is the process id as this process's pid namespace numbers it.
	PID int
	// Birth is opaque and compared with ==.
	//   - Linux: boot id and start time in clock ticks of 10 ms (/proc/PID/stat field 22). A pid would have to be
	//     handed out twice within one tick to be taken for the same process.
	//   - macOS: start time in seconds and microseconds (kinfo_proc p_starttime).
	//   - Elsewhere the start is not known: Birth is new with every reading, so that two readings never link, not
	//     even of the same process.
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
