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
	stamp func(path string) fileStamp
	// now is the time of day.
	now func() time.Time
}

func thisSystem() system {
	var monitor proc.StartMonitor
	return system{startedBinaries: monitor.Poll, ended: ended, stamp: stampOf, now: time.Now}
}

func ended(ctx context.Context, id proc.ID) error {
	h, err := proc.Open(id)
	if err != nil {
		return err
	}
	defer h.Close()
	return h.Wait(ctx)
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
