package proc

import (
	"context"
	"syscall"
)

// Handle refers to one process, so that a signal cannot reach another process that reuses its pid. It is safe for use by
// several goroutines.
//
//   - Linux 5.3 and newer: a pidfd, which the kernel binds to the process itself.
//   - macOS has no such thing. The start time is compared again immediately before each signal.
//   - On older Linux, [Open] fails with [ErrUnsupported].
type Handle struct{ ref processRef }

// Open returns a handle of a live process; the caller closes it. It returns [ErrGone] if the process has ended, as a
// zombie has, or if another process has its pid.
func Open(id ID) (*Handle, error) {
	if id.PID <= 0 {
		return nil, ErrGone
	}
	pin, err := newProcessRef(id)
	if err != nil {
		return nil, err
	}
	return &Handle{pin}, nil
}

// Signal sends sig to the process, not to its group. It returns [ErrGone] if the process has ended, as a zombie has,
// fs.ErrPermission if it may not be signalled, and os.ErrClosed after Close.
func (h *Handle) Signal(sig syscall.Signal) error { return h.ref.signal(sig) }

// Wait returns nil once the process has ended, even if its parent has not waited for it, and the error of ctx if that
// ends first. It does not poll, and the process need not be a child. Close does not end a call of Wait.
func (h *Handle) Wait(ctx context.Context) error { return h.ref.wait(ctx) }

// Close releases the handle.
func (h *Handle) Close() error { return h.ref.close() }
