package stop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/proc"
)

// agentProcess is a process that runs sessions. Several executions may share it; it is ended once.
type agentProcess struct {
	*run
	process proc.Process
	signals []syscall.Signal
	// ancestors are the processes above it, as far as they are known.
	ancestors map[proc.ID]bool
	// descendants are all processes that were seen below it.
	recording   sync.Mutex
	descendants proc.Descendants

	// gone: it has ended.
	gone atomic.Bool
	once sync.Once
	// ending is held by whoever signals the process or waits for its end.
	ending sync.Mutex
	sent   []SentSignal
	err    error // why it cannot be signalled
}

// agentProcess returns the one value that stands for a process.
func (r *run) agentProcess(p proc.Process, signals []syscall.Signal) *agentProcess {
	if a := r.agents[p.ID]; a != nil {
		return a
	}
	a := &agentProcess{run: r, process: p, signals: signals, descendants: proc.Descendants{}, ancestors: map[proc.ID]bool{}}
	for above := range r.snapshot.Table.Ancestors(p.ID.PID) {
		a.ancestors[above.ID] = true
	}
	r.agents[p.ID] = a
	return a
}

// end sends the signals one after the other and waits after each, until the process has ended.
func (a *agentProcess) end(ctx context.Context) {
	a.once.Do(func() {
		a.ending.Lock()
		defer a.ending.Unlock()
		h, err := proc.Open(a.process.ID)
		if err != nil {
			a.fail(err)
			return
		}
		defer h.Close()
		share := a.Timeout / time.Duration(len(a.signals))
		for _, sig := range a.signals {
			if a.signal(ctx, h, sig, share) {
				return
			}
		}
		if a.Force {
			a.signal(ctx, h, syscall.SIGKILL, killTimeout)
		}
	})
}

// awaitExit waits for the end of a process that was not signalled.
func (a *agentProcess) awaitExit(limited context.Context) {
	a.ending.Lock()
	defer a.ending.Unlock()
	h, err := proc.Open(a.process.ID)
	if err != nil {
		a.gone.Store(errors.Is(err, proc.ErrGone))
		return
	}
	defer h.Close()
	a.wait(limited, h)
}

// fail records why the process was not signalled. That it is gone is no failure.
func (a *agentProcess) fail(err error) {
	switch {
	case errors.Is(err, proc.ErrGone):
		a.gone.Store(true)
	case errors.Is(err, fs.ErrPermission):
		a.err = fmt.Errorf("%s may not be signalled: it belongs to user %d", a.process.ID, a.process.UID)
	default:
		a.err = fmt.Errorf("%s cannot be signalled: %w", a.process.ID, err)
	}
}

// signal sends one signal and waits. It reports whether there is nothing more to send. The descendants are recorded before:
// once the process is gone, nothing shows whose they were.
func (a *agentProcess) signal(ctx context.Context, h *proc.Handle, sig syscall.Signal, wait time.Duration) (done bool) {
	if err := a.recordDescendants(ctx); err != nil {
		if ctx.Err() == nil {
			a.err = err
		}
		return true
	}
	if err := sendSignal(h, a.process, sig); err != nil {
		a.fail(err)
		return true
	}
	a.sent = append(a.sent, SentSignal{Process: a.process.ID, Signal: sig})
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	a.wait(limited, h)
	return a.gone.Load() || a.err != nil || ctx.Err() != nil
}

// wait waits for the end of the process, and records meanwhile what it still starts.
func (a *agentProcess) wait(limited context.Context, h *proc.Handle) {
	for pause := minPollInterval; ; pause = min(2*pause, maxPollInterval) {
		slice, cancel := context.WithTimeout(limited, pause)
		err := h.Wait(slice)
		inTime := slice.Err() == nil
		cancel()
		switch {
		case err == nil:
			a.gone.Store(true)
			return
		case inTime:
			a.err = err
			return
		case limited.Err() != nil:
			return
		}
		_ = a.recordDescendants(limited) // they are recorded again before the next signal
	}
}

// recordDescendants adds the processes that are below the process by now. Another agent below it is not followed: what it has
// started belongs to its own session.
func (a *agentProcess) recordDescendants(ctx context.Context) error {
	table, err := a.scanner.ReadTable(ctx, false)
	if err != nil {
		return err
	}
	root, ok := table.Find(a.process.ID)
	if !ok {
		return nil
	}
	otherAgent := func(p proc.Process) bool { return a.snapshot.AgentProcesses[p.ID] && p.ID != root.ID }
	a.recording.Lock()
	defer a.recording.Unlock()
	seen := proc.Descendants{root.ID: root}
	maps.Copy(seen, a.descendants)
	seen.Expand(table, otherAgent)
	delete(seen, root.ID)
	maps.Copy(a.descendants, seen)
	return nil
}

// sendSignal signals a process. A suspended process takes only SIGKILL before it is continued.
func sendSignal(h *proc.Handle, p proc.Process, sig syscall.Signal) error {
	if err := h.Signal(sig); err != nil {
		return err
	}
	if now, err := proc.Inspect(p.ID.PID); err == nil && now.ID == p.ID && now.State.Stopped() {
		_ = h.Signal(unix.SIGCONT) // if it is gone meanwhile, that is as good
	}
	return nil
}
