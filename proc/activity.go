package proc

import (
	"net/netip"
	"time"
)

// Activity is what the kernel knows of the last time at which a process did something.
type Activity struct {
	// LastRun is when a thread of it has run last; zero where the kernel does not tell.
	LastRun time.Time
	// LastOutput is when a file was changed last that is its standard output or error; LastWrite the same of all files that it has open
	// for writing. Both are zero where there is none.
	LastOutput, LastWrite time.Time
	// WatchesFiles: it has asked the kernel to be told of changes of files, as tail -f does.
	WatchesFiles bool
	// Sockets are the inodes of its sockets.
	Sockets map[uint64]bool
}

// Activity reads what the process has open, and when it ran (Linux: /proc/PID/fd and /proc/PID/task/TID/sched, which kernels have since 6.15,
// and most had before). Elsewhere the error is [ErrUnsupported].
func (p Process) Activity() (Activity, error) { return p.backend().Activity(p) }

// TCPSocket is a TCP socket of our network namespace that listens, or is a connection that is open or is being opened.
type TCPSocket struct {
	Local, Remote netip.AddrPort
	Listens       bool
	Inode         uint64
	// LastMoved is when data was sent or received last.
	LastMoved time.Time
}
