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

// processRef is a pidfd, pidfd_open(2).
type processRef struct{ pidfd *os.File }

// newProcessRef opens the pidfd before it compares the birth: from then on the pid, the birth and the pidfd belong to one
// process.
func newProcessRef(id ID) (processRef, error) {
	fd, err := unix.PidfdOpen(id.PID, 0)
	switch {
	case err == nil:
	case errors.Is(err, unix.ESRCH), errors.Is(err, unix.EINVAL), errors.Is(err, unix.ENOENT): // the latter two: a thread
		return processRef{}, ErrGone
	case errors.Is(err, unix.ENOSYS):
		return processRef{}, fmt.Errorf("pidfd_open: %w", ErrUnsupported)
	default:
		return processRef{}, fmt.Errorf("pidfd_open %d: %w", id.PID, err)
	}
	p := processRef{os.NewFile(uintptr(fd), "pidfd")}
	if now, err := Inspect(id.PID); err != nil || now.ID != id || !now.Alive() {
		_ = p.close()
		return processRef{}, cmp.Or(err, ErrGone)
	}
	return p, nil
}

func (p processRef) close() error { return p.pidfd.Close() }

// signal checks first whether the process has ended, since the kernel accepts signals to a zombie.
func (p processRef) signal(sig syscall.Signal) error {
	return p.control(func(fd int) error {
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

// wait gives a copy of the pidfd to Go's poller, so that no thread blocks. When ctx ends, the read deadline of the copy
// wakes it.
func (p processRef) wait(ctx context.Context) error {
	watch, err := p.watch()
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
func (p processRef) watch() (*os.File, error) {
	var watch *os.File
	err := p.control(func(fd int) error {
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
func (p processRef) control(use func(fd int) error) error {
	conn, err := p.pidfd.SyscallConn()
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
