package proc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Handle refers to one process, so that a signal cannot reach another process that reuses its pid. It is safe for use by
// several goroutines.
//
//   - Linux 5.3 and newer: a pidfd, pidfd_open(2), which the kernel binds to the process itself.
//   - macOS has no such thing. The start time is compared again immediately before each signal.
//   - On older Linux, [Open] fails with [ErrUnsupported].
type Handle struct{ pidfd *os.File }

// Open returns a handle of a live process; the caller closes it. It returns [ErrGone] if the process has ended, as a
// zombie has, or if another process has its pid.
func Open(id ID) (*Handle, error) {
	if id.PID <= 0 {
		return nil, ErrGone
	}
	fd, err := unix.PidfdOpen(id.PID, 0)
	switch {
	case err == nil:
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT): // the latter two: a thread
		return nil, ErrGone
	case errors.Is(err, unix.ENOSYS):
		return nil, fmt.Errorf("pidfd_open: %w", ErrUnsupported)
	default:
		return nil, fmt.Errorf("pidfd_open %d: %w", id.PID, err)
	}
	h := &Handle{os.NewFile(uintptr(fd), "pidfd")}
	// From here on the pidfd and the pid belong to one process, whose birth is compared.
	if now, err := Inspect(id.PID); err != nil || now.ID != id || !now.Alive() {
		_ = h.Close()
		return nil, cmp.Or(err, ErrGone)
	}
	return h, nil
}

// Close releases the handle.
func (h *Handle) Close() error { return h.pidfd.Close() }

// Signal sends sig to the process, not to its group. It returns [ErrGone] if the process has ended, as a zombie has,
// fs.ErrPermission if it may not be signalled, and os.ErrClosed after Close. It checks first whether the process has ended, since
// the kernel accepts signals to a zombie.
func (h *Handle) Signal(sig syscall.Signal) error {
	return h.control(func(fd int) error {
		gone, err := ended(fd)
		if err != nil {
			return err
		}
		if gone {
			return ErrGone
		}
		err = unix.PidfdSendSignal(fd, sig, nil, 0)
		if errors.Is(err, unix.ESRCH) {
			return ErrGone
		}
		return err
	})
}

// Wait returns nil once the process has ended, even if its parent has not waited for it, and the error of ctx if that
// ends first. It does not poll, and the process need not be a child. Close does not end a call of Wait. A copy of the pidfd is given
// to Go's poller, so that no thread blocks. When ctx ends, the read deadline of the copy wakes it.
func (h *Handle) Wait(ctx context.Context) error {
	watch, err := h.watch()
	if err != nil {
		return err
	}
	defer watch.Close()
	conn, err := watch.SyscallConn()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = watch.SetReadDeadline(time.Unix(1, 0)) })()
	var failed error
	err = conn.Read(func(fd uintptr) (done bool) {
		done, failed = ended(int(fd))
		return done || failed != nil
	})
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return ctx.Err()
	}
	return cmp.Or(err, failed)
}

// watch copies the pidfd, so that each wait has a deadline of its own, and makes the copy non-blocking for the poller.
func (h *Handle) watch() (*os.File, error) {
	var watch *os.File
	err := h.control(func(fd int) error {
		dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err != nil {
			return fmt.Errorf("copying a pidfd: %w", err)
		}
		if err := unix.SetNonblock(dup, true); err != nil {
			unix.Close(dup)
			return fmt.Errorf("copying a pidfd: %w", err)
		}
		watch = os.NewFile(uintptr(dup), "pidfd")
		return nil
	})
	return watch, err
}

// control calls use with the pidfd, which cannot be closed meanwhile.
func (h *Handle) control(use func(fd int) error) error {
	conn, err := h.pidfd.SyscallConn()
	if err != nil {
		return err
	}
	var failed error
	if err := conn.Control(func(fd uintptr) { failed = use(int(fd)) }); err != nil {
		return os.ErrClosed
	}
	return failed
}

// ended reports whether all threads of the process have ended: then its pidfd is readable, also for a zombie.
func ended(pidfd int) (bool, error) {
	set := []unix.PollFd{{Fd: int32(pidfd), Events: unix.POLLIN}}
	n, err := retry(func() (int, error) { return unix.Poll(set, 0) })
	return n > 0, err
}
