package proc

import (
	"context"
	"errors"
	"os"
	"sync"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"agentctl/tests/must"
)

func hold(t *testing.T, id ID) *Handle {
	t.Helper()
	h, err := Open(id)
	must.Do(t, err)
	t.Cleanup(func() { _ = h.Close() })
	return h
}

func TestHandleSignalsAndWaits(t *testing.T) {
	c := start(t, "wait")
	h := hold(t, inspect(t, c.Process.Pid).ID)
	ended := make(chan error)
	go func() { ended <- h.Wait(t.Context()) }()
	must.Do(t, h.Signal(unix.SIGTERM))
	must.Do(t, <-ended)
	// It is a zombie now, and takes no more signals.
	if err := h.Signal(unix.SIGKILL); !errors.Is(err, ErrGone) {
		t.Errorf("signal to a zombie: %v", err)
	}
	var exit interface{ Sys() any }
	if err := c.Wait(); !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != unix.SIGTERM {
		t.Errorf("ended by %v", err)
	}
	if err := h.Signal(unix.SIGKILL); !errors.Is(err, ErrGone) {
		t.Errorf("signal to a collected process: %v", err)
	}
	if err := h.Wait(t.Context()); err != nil {
		t.Errorf("second wait: %v", err)
	}
}

func TestWaitEndsWithItsContext(t *testing.T) {
	c := start(t, "wait")
	h := hold(t, inspect(t, c.Process.Pid).ID)
	ctx, cancel := context.WithCancel(t.Context())
	patient := make(chan error, 1)
	go func() { patient <- h.Wait(t.Context()) }()
	var cancelled sync.WaitGroup
	for range 20 {
		cancelled.Go(func() {
			if err := h.Wait(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled wait: %v", err)
			}
		})
	}
	cancel()
	if err := h.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("wait with an ended context: %v", err)
	}
	cancelled.Wait()
	select {
	case err := <-patient:
		t.Errorf("the process lives, but a wait returned %v", err)
	default:
	}
	c.zombify(t)
	if err := <-patient; err != nil {
		t.Errorf("patient wait: %v", err)
	}
}

func TestClosedHandle(t *testing.T) {
	h := hold(t, inspect(t, os.Getpid()).ID)
	must.Do(t, h.Close())
	if err := h.Signal(0); !errors.Is(err, os.ErrClosed) {
		t.Errorf("signal: %v", err)
	}
	if err := h.Wait(t.Context()); !errors.Is(err, os.ErrClosed) {
		t.Errorf("wait: %v", err)
	}
	if err := h.Close(); !errors.Is(err, os.ErrClosed) {
		t.Errorf("close: %v", err)
	}
}
