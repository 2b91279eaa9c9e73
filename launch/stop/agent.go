package stop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"agentctl/launch"
	"agentctl/proc"
)

// killTime is how long the kernel may take to end a process that it was told to kill: one that waits for a disk takes
// as long as that does.
const killTime = 5 * time.Second

// agent is a process that runs sessions.
type agent struct {
	*stopping
	process proc.Process
	gentle  []syscall.Signal
	// outer are the processes that it runs below of, as far as is known.
	outer map[proc.ID]bool
	// below are all that were seen to be started by it, by what it has started, and so on.
	noting sync.Mutex
	below  proc.Descendants

	once sync.Once
	gone bool
	sent []SentSignal
	err  error // why it cannot be signalled
}

// agent is the one that ends this process: two sessions of it do not end it twice.
func (s *stopping) agent(p proc.Process, st launch.Stopper) *agent {
	if a := s.agents[p.ID]; a != nil {
		return a
	}
	a := &agent{stopping: s, process: p, gentle: st.StopSignals(), below: proc.Descendants{}, outer: map[proc.ID]bool{}}
	if len(a.gentle) == 0 {
		a.gentle = plain{}.StopSignals()
	}
	for outer := range s.now.Table.Ancestors(p.ID.PID) {
		a.outer[outer.ID] = true
	}
	s.agents[p.ID] = a
	return a
}

// end asks the process to end, and waits for it, in ever rougher ways.
func (a *agent) end(ctx context.Context) {
	a.once.Do(func() {
		h, err := proc.Open(a.process.ID)
		if err != nil {
			a.failed(err)
			return
		}
		defer h.Close()
		share := a.Timeout / time.Duration(len(a.gentle))
		for _, sig := range a.gentle {
			if a.try(ctx, h, sig, share) {
				return
			}
		}
		if a.Force {
			a.try(ctx, h, syscall.SIGKILL, killTime)
		}
	})
}

// failed notes why the process was not signalled; one that is gone already is as good as ended.
func (a *agent) failed(err error) {
	switch {
	case errors.Is(err, proc.ErrGone):
		a.gone = true
	case errors.Is(err, fs.ErrPermission):
		a.err = fmt.Errorf("%s may not be signalled: it belongs to user %d", a.process.ID, a.process.UID)
	default:
		a.err = fmt.Errorf("%s cannot be signalled: %w", a.process.ID, err)
	}
}

// try sends one signal and waits. It reports whether there is nothing more to try. What the process has started since is
// noted before: once it is gone, nobody can tell whose it was.
func (a *agent) try(ctx context.Context, h *proc.Handle, sig syscall.Signal, wait time.Duration) (done bool) {
	if err := a.note(ctx); err != nil {
		if ctx.Err() == nil {
			a.err = err
		}
		return true
	}
	if err := send(h, a.process, sig); err != nil {
		a.failed(err)
		return true
	}
	a.sent = append(a.sent, SentSignal{a.process.ID, sig, RoleAgent})
	limited, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	a.attend(limited, h)
	return a.gone || a.err != nil || ctx.Err() != nil
}

// attend waits for the end of the process, and notes what it still starts meanwhile.
func (a *agent) attend(limited context.Context, h *proc.Handle) {
	for pause := glance; ; pause = min(2*pause, stare) {
		slice, cancel := context.WithTimeout(limited, pause)
		err := h.Wait(slice)
		over := slice.Err() == nil
		cancel()
		switch {
		case err == nil:
			a.gone = true
			return
		case over:
			a.err = err
			return
		case limited.Err() != nil:
			return
		}
		_ = a.note(limited) // it is noted again before the next signal
	}
}

// send signals a process. One that is suspended takes no signal but SIGKILL before it goes on.
func send(h *proc.Handle, p proc.Process, sig syscall.Signal) error {
	if err := h.Signal(sig); err != nil {
		return err
	}
	if now, err := proc.Inspect(p.ID.PID); err == nil && now.ID == p.ID && now.State.Stopped() {
		_ = h.Signal(unix.SIGCONT) // gone meanwhile is as good
	}
	return nil
}

func signalName(sig syscall.Signal) string { return unix.SignalName(sig) }
