package proc

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// ErrOtherPeer is returned for a connection whose other end another process holds.
var ErrOtherPeer = errors.New("another process is at the other end of the connection")

const (
	// acceptPollInterval is the time between two questions who has accepted a connection. A server does so within microseconds.
	acceptPollInterval = 5 * time.Millisecond
	// acceptTimeout is how long a connection may be accepted while no process's descriptors show it: between the two, the kernel
	// may let others run.
	acceptTimeout = time.Second
)

// VerifyPeer waits until the process is seen to hold the other end of a connected socket of ours, over TCP or a Unix socket: what
// is written to it then reaches this process. Before, nothing should be written to it. A port or a name does not tell: another
// process may listen on another address of that port, or may have taken it over meanwhile. Errors: [ErrOtherPeer], [ErrGone],
// that of ctx where nobody accepts the connection, and others where it cannot be told.
func (p Process) VerifyPeer(ctx context.Context, conn syscall.Conn) error {
	raw, err := conn.SyscallConn()
	if err != nil {
		return err
	}
	for began := time.Now(); ; {
		var c connection
		by, failed := peerPending, error(nil)
		err := raw.Control(func(fd uintptr) {
			if c, failed = connectionOf(int(fd)); failed == nil {
				by, failed = p.backend().peer(p, c)
			}
		})
		if err = errors.Join(err, failed); err != nil {
			return fmt.Errorf("who is at the other end of the connection: %w", err)
		}
		switch {
		case by == peerProcess:
			return nil
		case by == peerOther && (c.local() || time.Since(began) > acceptTimeout):
			return ErrOtherPeer
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(acceptPollInterval):
		}
	}
}

// peer says who holds the other end of a connection.
type peer uint8

const (
	peerPending peer = iota // it is not accepted so far
	peerOther
	peerProcess
)

// connection is a connected stream socket of ours.
type connection struct {
	fd int // while the system is asked
	// ours and theirs are its two ends over TCP; those of a Unix socket are not valid.
	ours, theirs netip.AddrPort
}

func (c connection) local() bool { return !c.theirs.IsValid() }

func connectionOf(fd int) (connection, error) {
	theirs, err := unix.Getpeername(fd)
	if err != nil {
		return connection{}, err
	}
	ours, err := unix.Getsockname(fd)
	return connection{fd, endOf(ours), endOf(theirs)}, err
}

// endOf is the address of an end, not valid unless it is one of TCP.
func endOf(s unix.Sockaddr) netip.AddrPort {
	switch s := s.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(s.Addr), uint16(s.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(s.Addr).Unmap(), uint16(s.Port))
	}
	return netip.AddrPort{}
}

// comparePeer compares who listens on a Unix socket, as the kernel noted it then, with the process.
func comparePeer(p Process, pid, uid int) peer {
	if pid == p.ID.PID && uid == p.UID {
		return peerProcess
	}
	return peerOther
}
