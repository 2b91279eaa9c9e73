package proc

import (
	"context"
	"syscall"
)

// Handle holds on to one process, so that a signal cannot reach another one that was given its pid. It is safe for
// use by several goroutines.
//
//   - Linux 5.3 and newer: a pidfd, which the kernel binds to the process itself.
//   - macOS: there is no such thing. The start time is compared again immediately before each signal.
//   - Elsewhere, and on older Linux, no identity can be held: [Open] fails with [ErrUnsupported].
type Handle struct{ ref processRef }

// Open takes hold of a living process. It returns [ErrGone] if id's process has ended, a zombie included, or its pid
// belongs to another one.
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

// Signal sends sig to the process, not to its group. It returns [ErrGone] if the process has ended, a zombie
// included, fs.ErrPermission if it may not be signalled, and os.ErrClosed after Close.
func (h *Handle) Signal(sig syscall.Signal) error { return h.ref.signal(sig) }

// Wait returns nil once the process has ended, collected by its parent or not, and ctx's error if ctx ends first. It
// does not poll, and the process need not be a child. Close does not end a Wait that has begun.
func (h *Handle) Wait(ctx context.Context) error { return h.ref.wait(ctx) }

// Close lets go of the process.
func (h *Handle) Close() error { return h.ref.close() }
