package native

import (
	"context"
	"errors"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Dial connects to a server on this machine: to a Unix socket, or to a port on loopback. name is the name of the returned
// file, which supports deadlines. Dial waits until ctx ends, since a suspended server accepts no connection once its
// queue is full. Package net would link a DNS resolver into the program.
func Dial(ctx context.Context, name string, to unix.Sockaddr) (*os.File, error) {
	family := unix.AF_INET
	if _, ok := to.(*unix.SockaddrUnix); ok {
		family = unix.AF_UNIX
	}
	syscall.ForkLock.RLock() // so that no child process inherits the socket
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
		err = waitConnected(ctx, conn)
	}
	if err != nil {
		_ = conn.Close() // never used
		return nil, err
	}
	return conn, nil
}

// waitConnected waits until a socket is connected or has failed.
func waitConnected(ctx context.Context, conn *os.File) error {
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
