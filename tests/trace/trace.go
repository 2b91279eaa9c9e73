// Package trace runs a command and tells every system call it made: what it opened, changed and locked.
//
// It is what the tests count with and what proves that nothing is written below an agent's home. It needs no
// strace: it is a small ptrace(2) tracer, so it is there wherever Linux is. It follows forks and threads.
package trace

import (
	"errors"
	"strings"
)

// ErrUnsupported: this operating system or processor has no tracer here.
var ErrUnsupported = errors.New("tracing system calls needs Linux on amd64 or arm64")

// Effect is what a system call does, or would have done had it not failed, to the file system.
type Effect string

// The effects. A call with none only reads, or concerns no file.
const (
	Create    Effect = "create" // of a file, directory, node or link; opening what exists already is none
	Write     Effect = "write"
	Truncate  Effect = "truncate" // and fallocate
	Rename    Effect = "rename"
	Remove    Effect = "remove"
	Attribute Effect = "attribute" // mode, owner, times, extended attributes
	WriteLock Effect = "write-lock"
	MapWrite  Effect = "map-write" // a shared writable mapping: changes through it make no call
	Hidden    Effect = "hidden"    // io_uring: what it does makes no call that can be seen
)

// Call is one system call.
type Call struct {
	// PID is the thread that made it.
	PID int
	// Program is what the thread ran when it made the call: the real path of the executable. It is set for calls that have an
	// effect, and for those that open a file or execute a program.
	Program string
	// Name as in syscalls(2); "#N" for those that neither open nor change a file.
	Name string
	// Path is absolute: the path argument, or the file behind the descriptor argument, with symbolic links as
	// they were given (after a successful open: resolved). "" for pipes, sockets and calls without a file.
	Path string
	// To is the second path of a rename or link.
	To     string
	Effect Effect
	// Ret is the result; a failed call has the negative errno.
	Ret int64
}

// Result is what a traced command did.
type Result struct {
	// Calls in the order in which they returned.
	Calls []Call
	// Exit is the exit status, or 128 and the number of the signal that ended the command.
	Exit int
	// PeakRSS is the most memory that was resident, in bytes (VmHWM in /proc/PID/status).
	PeakRSS int64
}

// Below returns the calls on files below any of the directories, themselves included.
func (r Result) Below(dirs ...string) []Call {
	var out []Call
	for _, c := range r.Calls {
		for _, dir := range dirs {
			if within(c.Path, dir) || within(c.To, dir) {
				out = append(out, c)
				break
			}
		}
	}
	return out
}

// Of returns only the calls of which a program is known to have made them.
func (r Result) Of(program string) Result {
	calls := r.Calls
	r.Calls = nil
	for _, c := range calls {
		if c.Program == program {
			r.Calls = append(r.Calls, c)
		}
	}
	return r
}

// Changes returns the calls that changed or locked something below any of the directories, or tried to, and all
// whose effect cannot be seen.
func (r Result) Changes(dirs ...string) []Call {
	var out []Call
	for _, c := range r.Below(dirs...) {
		if c.Effect != "" && c.Effect != Hidden {
			out = append(out, c)
		}
	}
	for _, c := range r.Calls {
		if c.Effect == Hidden {
			out = append(out, c)
		}
	}
	return out
}

// Opened returns the distinct files and directories that were opened, in order.
func Opened(calls []Call) []string {
	var out []string
	seen := map[string]bool{}
	for _, c := range calls {
		switch c.Name {
		case "open", "openat", "openat2":
			if c.Ret >= 0 && !seen[c.Path] {
				seen[c.Path] = true
				out = append(out, c.Path)
			}
		}
	}
	return out
}

func within(path, dir string) bool {
	return path == dir || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
