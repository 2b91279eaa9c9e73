package proc

import "time"

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
func (p Process) Usage() (Usage, error) { return p.source().usage(p) }

// BytesWritten is how many bytes the process has written by the moment of asking, into whatever it was (Linux: wchar of
// /proc/PID/io; [ErrUnsupported] elsewhere). It cannot have written a file that is longer.
func (p Process) BytesWritten() (int64, error) { return p.source().written(p) }
