package proc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"

	"golang.org/x/sys/unix"
)

// Handle refers to one process: an ID that is checked again before each use. See the documentation for Linux.
type Handle struct {
	id     ID
	closed atomic.Bool
}

// Open returns a handle of a live process, else [ErrGone].
func Open(id ID) (*Handle, error) {
	h := &Handle{id: id}
	if err := h.checkAlive(); err != nil {
		return nil, err
	}
	return h, nil
}

// Close releases the handle.
func (h *Handle) Close() error {
	if h.closed.Swap(true) {
		return os.ErrClosed
	}
	return nil
}

func (h *Handle) checkAlive() error {
	if h.closed.Load() {
		return os.ErrClosed
	}
	if h.id.PID <= 0 {
		return ErrGone
	}
	now, err := Inspect(h.id.PID)
	if err != nil {
		return err
	}
	if now.ID != h.id || !now.Alive() {
		return ErrGone
	}
	return nil
}

// Signal sends sig to the process, not to its group.
func (h *Handle) Signal(sig syscall.Signal) error {
	if err := h.checkAlive(); err != nil {
		return err
	}
	err := unix.Kill(h.id.PID, sig)
	if errors.Is(err, unix.ESRCH) {
		return ErrGone
	}
	return err
}

// Wait blocks in a kqueue(2) until the process exits or ctx ends, which triggers an event of our own.
func (h *Handle) Wait(ctx context.Context) error {
	if h.closed.Load() {
		return os.ErrClosed
	}
	queue, err := unix.Kqueue()
	if err != nil {
		return fmt.Errorf("kqueue: %w", err)
	}
	defer unix.Close(queue)
	exit := unix.Kevent_t{Ident: uint64(h.id.PID), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}
	wake := unix.Kevent_t{Filter: unix.EVFILT_USER, Flags: unix.EV_ADD | unix.EV_CLEAR}
	if err := change(queue, wake); err != nil {
		return err
	}
	if err := change(queue, exit); errors.Is(err, unix.ESRCH) {
		return nil
	} else if err != nil {
		return err
	}
	// The kqueue watches the pid. If another process has it by now, this one ended before.
	if err := h.checkAlive(); errors.Is(err, ErrGone) {
		return nil
	} else if err != nil {
		return err
	}
	return await(ctx, queue, wake)
}

func await(ctx context.Context, queue int, wake unix.Kevent_t) error {
	woken := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(woken)
		wake.Flags, wake.Fflags = 0, unix.NOTE_TRIGGER
		_ = change(queue, wake)
	})
	defer func() {
		if !stop() {
			<-woken // the queue must not be closed, and its number reused, before
		}
	}()
	events := make([]unix.Kevent_t, 2)
	n, err := unix.Kevent(queue, nil, events, nil)
	for errors.Is(err, unix.EINTR) {
		n, err = unix.Kevent(queue, nil, events, nil)
	}
	if err != nil {
		return fmt.Errorf("kevent: %w", err)
	}
	for _, e := range events[:n] {
		if e.Filter == unix.EVFILT_PROC {
			return nil
		}
	}
	return ctx.Err()
}

func change(queue int, event unix.Kevent_t) error {
	_, err := unix.Kevent(queue, []unix.Kevent_t{event}, nil, nil)
	if err != nil {
		return fmt.Errorf("kevent: %w", err)
	}
	return nil
}
