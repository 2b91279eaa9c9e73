package proc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// OtherPeerError: another process than the one that was meant listens on the address.
type OtherPeerError struct {
	Process ID
	Address string
}

func (e *OtherPeerError) Error() string {
	return fmt.Sprintf("another process than %s listens on %s, and is sent nothing", e.Process, e.Address)
}

const (
	// acceptPollInterval is the time between two checks for who has accepted a connection. A server does so within
	// microseconds.
	acceptPollInterval = 5 * time.Millisecond
	// acceptTimeout is how long a connection may be accepted without being among any process's descriptors: the kernel
	// may run other processes in between.
	acceptTimeout = time.Second
)

// Dial connects to a Unix socket of the process, or to a port at which it listens. Error: [*OtherPeerError] if another process does; it
// is sent nothing.
func (p Process) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	if err := p.verifyPeer(ctx, conn, address); err != nil {
		_ = conn.Close() // never used
		return nil, err
	}
	return conn, nil
}

// verifyPeer waits until the process holds the other end of conn, a connected TCP or Unix socket of this process. Write
// nothing to the connection before it returns nil. A port or a socket name is no proof: another process may listen on
// another address of that port, or may have replaced the server meanwhile. Errors: [*OtherPeerError], [ErrGone], that of ctx
// if nobody accepts the connection, and others if it cannot be determined.
func (p Process) verifyPeer(ctx context.Context, conn net.Conn, address string) error {
	socket, ok := conn.(syscall.Conn)
	if !ok {
		return errors.ErrUnsupported
	}
	raw, err := socket.SyscallConn()
	if err != nil {
		return err
	}
	for began := time.Now(); ; {
		var c Connection
		by, failed := peerPending, error(nil)
		err := raw.Control(func(fd uintptr) {
			if c, failed = connectionOf(int(fd)); failed == nil {
				by, failed = p.backend().Peer(p, c)
			}
		})
		if err = errors.Join(err, failed); err != nil {
			return fmt.Errorf("who is at the other end of the connection: %w", err)
		}
		switch {
		case by == peerProcess:
			return nil
		case by == peerOther && (c.local() || time.Since(began) > acceptTimeout):
			return &OtherPeerError{p.ID, address}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(acceptPollInterval):
		}
	}
}

// Peer says which process has the other end of a connection.
type Peer uint8

const (
	peerPending Peer = iota // not accepted so far
	peerOther
	peerProcess
)

// Connection is a connected stream socket of this process.
type Connection struct {
	fd int // valid while the backend uses it
	// ours and theirs are the two ends of a TCP connection. Those of a Unix socket are not valid.
	ours, theirs netip.AddrPort
}

func (c Connection) local() bool { return !c.theirs.IsValid() }

func connectionOf(fd int) (Connection, error) {
	theirs, err := unix.Getpeername(fd)
	if err != nil {
		return Connection{}, err
	}
	ours, err := unix.Getsockname(fd)
	return Connection{fd, endOf(ours), endOf(theirs)}, err
}

// endOf returns the address of one end; it is not valid unless it is of TCP.
func endOf(s unix.Sockaddr) netip.AddrPort {
	switch s := s.(type) {
	case *unix.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(s.Addr), uint16(s.Port))
	case *unix.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(s.Addr).Unmap(), uint16(s.Port))
	}
	return netip.AddrPort{}
}

// comparePeer compares the process that listened on a Unix socket, as the kernel recorded it, with p.
func comparePeer(p Process, pid, uid int) Peer {
	if pid == p.ID.PID && uid == p.UID {
		return peerProcess
	}
	return peerOther
}
