package watch

import (
	"context"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/proc"
)

// system is what a poller asks the machine.
type system struct {
	// startedBinaries returns the binaries of the processes that have begun since it was last asked.
	startedBinaries func() ([]string, error)
	// ended returns nil or [proc.ErrGone] once the process has ended; another error if that cannot be waited for.
	ended func(context.Context, proc.ID) error
	// alive reports whether the process still runs.
	alive func(proc.ID) bool
	stamp func(path string) fileStamp
	// costClock is what snapshots have cost so far: the processor time of this process, or the time that has passed.
	costClock func() time.Duration
	// now is the time of day.
	now func() time.Time
}

func thisSystem() system {
	var monitor proc.StartMonitor
	return system{startedBinaries: monitor.Poll, ended: ended, alive: alive, stamp: stampOf, costClock: processorTime, now: time.Now}
}

func ended(ctx context.Context, id proc.ID) error {
	h, err := proc.Open(id)
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Wait(ctx)
}

func alive(id proc.ID) bool {
	p, err := proc.Inspect(id.PID)
	return err == nil && p.ID == id && p.Alive()
}

// fileStamp is what a file or folder shows of itself without being opened; the zero value is that of none.
type fileStamp struct {
	size, seconds, nanoseconds int64
	inode                      uint64
}

func stampOf(path string) fileStamp {
	var st unix.Stat_t
	if err := unix.Stat(path, &st); err != nil {
		return fileStamp{}
	}
	seconds, nanoseconds := st.Mtim.Unix()
	return fileStamp{st.Size, seconds, nanoseconds, st.Ino}
}

// processorTime is what this process has used.
func processorTime() time.Duration {
	var use unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &use); err != nil {
		return 0
	}
	return time.Duration(use.Utime.Nano() + use.Stime.Nano())
}

// elapsed measures the time that passes.
func elapsed() func() time.Duration {
	start := time.Now()
	return func() time.Duration { return time.Since(start) }
}
