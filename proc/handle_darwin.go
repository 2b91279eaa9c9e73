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

// processRef is an ID that is checked again before each use.
type processRef struct {
	id     ID
	closed *atomic.Bool
}

func newProcessRef(id ID) (processRef, error) {
	p := processRef{id, new(atomic.Bool)}
	return p, p.checkAlive()
}

func (p processRef) close() error {
	if p.closed.Swap(true) {
		return os.ErrClosed
	}
	return nil
}

func (p processRef) checkAlive() error {
	if p.closed.Load() {
		return os.ErrClosed
	}
	now, err := Inspect(p.id.PID)
	if err != nil {
		return err
	}
	if now.ID != p.id || !now.Alive() {
		return ErrGone
	}
	return nil
}

func (p processRef) signal(sig syscall.Signal) error {
	if err := p.checkAlive(); err != nil {
		return err
	}
	err := unix.Kill(p.id.PID, sig)
	if errors.Is(err, unix.ESRCH) {
		return ErrGone
	}
	return err
}

// wait blocks in a kqueue(2) until the process exits or ctx ends, which triggers an event of our own.
func (p processRef) wait(ctx context.Context) error {
	if p.closed.Load() {
		return os.ErrClosed
	}
	queue, err := unix.Kqueue()
	if err != nil {
		return fmt.Errorf("kqueue: %w", err)
	}
	defer unix.Close(queue)
	exit := unix.Kevent_t{Ident: uint64(p.id.PID), Filter: unix.EVFILT_PROC, Flags: unix.EV_ADD | unix.EV_ONESHOT, Fflags: unix.NOTE_EXIT}
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
	if err := p.checkAlive(); errors.Is(err, ErrGone) {
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
