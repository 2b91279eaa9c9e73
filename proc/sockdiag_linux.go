package proc

import (
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/sys/unix"
)

// systemListeners returns those of our own network namespace.
func systemListeners() ([]listener, error) { return diagListeners() }

// Numbers of sock_diag(7), with the layout in <linux/inet_diag.h>.
const (
	sockDiagByFamily = 20
	diagRequestSize  = 56 // inet_diag_req_v2: family, protocol, ext, pad, states, id
	diagMessageSize  = 72 // inet_diag_msg: family, state, timer, retrans, id, …, inode
	diagPort         = 4  // of the message: the first of its id, in network order
	diagInode        = 68
	stateListen      = 10 // TCP_LISTEN
)

// diagListeners returns the TCP sockets that listen in our network namespace, those of other users included.
func diagListeners() ([]listener, error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_SOCK_DIAG)
	if err != nil {
		return nil, fmt.Errorf("sock_diag: %w", err)
	}
	defer unix.Close(fd)
	var out []listener
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		if err := unix.Sendto(fd, diagRequest(family), 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return nil, fmt.Errorf("sock_diag: %w", err)
		}
		for more := true; more; {
			buf := make([]byte, 32<<10)
			n, err := retry(func() (int, error) {
				n, _, err := unix.Recvfrom(fd, buf, 0)
				return n, err
			})
			if err != nil {
				return nil, fmt.Errorf("sock_diag: %w", err)
			}
			if out, more, err = parseDiagResponse(out, buf[:n]); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// diagRequest returns a request for all listening sockets of an address family.
func diagRequest(family byte) []byte {
	b := make([]byte, unix.SizeofNlMsghdr, unix.SizeofNlMsghdr+diagRequestSize)
	native := binary.NativeEndian
	native.PutUint32(b[0:], uint32(cap(b)))
	native.PutUint16(b[4:], sockDiagByFamily)
	native.PutUint16(b[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
	b = append(b, family, unix.IPPROTO_TCP, 0, 0)
	b = native.AppendUint32(b, 1<<stateListen)
	return b[:cap(b)] // any addresses
}

// parseDiagResponse adds the sockets of one datagram to out, and reports whether more datagrams follow.
func parseDiagResponse(out []listener, b []byte) (_ []listener, more bool, err error) {
	native := binary.NativeEndian
	for len(b) >= unix.SizeofNlMsghdr {
		size, kind := int(native.Uint32(b)), native.Uint16(b[4:])
		if size < unix.SizeofNlMsghdr || size > len(b) {
			return nil, false, errDiag
		}
		body := b[unix.SizeofNlMsghdr:size]
		switch {
		case kind == unix.NLMSG_DONE:
			return out, false, nil
		case kind == unix.NLMSG_ERROR && len(body) >= 4:
			return nil, false, fmt.Errorf("sock_diag: %w", unix.Errno(-int32(native.Uint32(body))))
		case kind != sockDiagByFamily || len(body) < diagMessageSize:
			return nil, false, errDiag
		case body[1] == stateListen:
			out = append(out, listener{
				port: int(binary.BigEndian.Uint16(body[diagPort:])), inode: uint64(native.Uint32(body[diagInode:])),
			})
		}
		b = b[min((size+3)&^3, len(b)):]
	}
	return out, true, nil
}

var errDiag = errors.New("sock_diag: an answer of unknown form")
