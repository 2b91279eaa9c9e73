package cli

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ContextWriter is a writer that gives up when the context ends, since a reader that stops reading would block for ever.
type ContextWriter struct {
	Context context.Context // its life is one call
	Out     io.Writer
}

func (c ContextWriter) Write(text []byte) (int, error) {
	done := make(chan error, 1)
	kept := bytes.Clone(text) // it is written still when we have given up
	go func() {
		_, err := c.Out.Write(kept)
		done <- err
	}()
	select {
	case err := <-done:
		return len(text), err
	case <-c.Context.Done():
		return 0, c.Context.Err()
	}
}

// CancelOnHangup cancels the context, with EPIPE as its cause, once the other end of the pipe w is closed. SIGPIPE does
// not end the process meanwhile, so that the command can end what it has started.
func CancelOnHangup(ctx context.Context, w io.Writer) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	f, ok := w.(*os.File)
	if !ok {
		return ctx, cancel
	}
	pipes := make(chan os.Signal, 1)
	signal.Notify(pipes, syscall.SIGPIPE)
	go func() {
		defer signal.Stop(pipes)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				if hungUp(f) {
					cancel(syscall.EPIPE)
					return
				}
			case <-ctx.Done():
				return
			}
		}
	}()
	return ctx, cancel
}

// hungUp reports whether f is a pipe or a socket whose other end is closed.
func hungUp(f *os.File) bool {
	set := []unix.PollFd{{Fd: int32(f.Fd())}}
	n, err := unix.Poll(set, 0)
	return err == nil && n > 0 && set[0].Revents&(unix.POLLERR|unix.POLLHUP) != 0
}
