package native

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Dial connects to a server on this machine: to a Unix socket, or to a port on loopback. It waits until ctx ends, since a
// suspended server takes no connection once its queue is full. Deadlines of the file, which has that name, work: the runtime
// waits for a socket that does not block. Package net would bring a resolver of names into the program.
func Dial(ctx context.Context, name string, to unix.Sockaddr) (*os.File, error) {
	family := unix.AF_INET
	if _, ok := to.(*unix.SockaddrUnix); ok {
		family = unix.AF_UNIX
	}
	syscall.ForkLock.RLock() // no child of ours is to inherit it
	fd, err := unix.Socket(family, unix.SOCK_STREAM, 0)
	if err == nil {
		unix.CloseOnExec(fd)
	}
	syscall.ForkLock.RUnlock()
	if err != nil {
		return nil, err
	}
	if err = unix.SetNonblock(fd, true); err == nil {
		err = unix.Connect(fd, to)
	}
	pending := errors.Is(err, unix.EINPROGRESS)
	if err != nil && !pending {
		_ = unix.Close(fd) // never used
		return nil, err
	}
	conn := os.NewFile(uintptr(fd), name)
	if pending {
		err = connected(ctx, conn)
	}
	if err != nil {
		_ = conn.Close() // never used
		return nil, err
	}
	return conn, nil
}

// connected waits until a socket is connected, or cannot be.
func connected(ctx context.Context, conn *os.File) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	defer context.AfterFunc(ctx, func() { _ = conn.SetDeadline(time.Unix(1, 0)) })()
	var failed error
	err = raw.Write(func(fd uintptr) bool {
		number, err := unix.GetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_ERROR)
		if err == nil && number != 0 {
			err = unix.Errno(number)
		}
		failed = err
		_, pending := unix.Getpeername(int(fd))
		return err != nil || pending == nil
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return errors.Join(err, failed)
}
