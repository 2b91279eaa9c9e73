package proc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io/fs"
	"iter"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// tcpSocket is a line of /proc/PID/net/tcp or tcp6, proc_pid_net(5).
type tcpSocket struct {
	local, remote netip.AddrPort
	listens       bool
	inode         uint64 // 0 while a connection is not accepted
}

// listenPorts matches the sockets of the process with the listening ones of its network namespace.
func (d pidDir) listenPorts() ([]int, error) {
	own, err := d.socketInodes()
	if err != nil || len(own) == 0 {
		return nil, err
	}
	var ports []int
	for s, err := range d.tcpSockets() {
		if err != nil {
			return nil, err
		}
		if s.listens && own[s.inode] {
			ports = append(ports, int(s.local.Port()))
		}
	}
	slices.Sort(ports)
	return slices.Compact(ports), nil
}

// socketInodes returns the inodes of the sockets that the process has open.
func (d pidDir) socketInodes() (map[uint64]bool, error) {
	fds, err := d.listNumbers("fd")
	if err != nil {
		return nil, err
	}
	own := map[uint64]bool{}
	for _, fd := range fds {
		name, err := d.readlink("fd/" + strconv.Itoa(fd))
		if err != nil && !vanished(err) {
			return nil, err
		}
		if s, ok := strings.CutPrefix(name, "socket:["); ok {
			if inode, err := strconv.ParseUint(strings.TrimSuffix(s, "]"), 10, 64); err == nil {
				own[inode] = true
			}
		}
	}
	return own, nil
}

// tcpSockets yields the TCP sockets of the network namespace of the process.
func (d pidDir) tcpSockets() iter.Seq2[tcpSocket, error] {
	return func(yield func(tcpSocket, error) bool) {
		for _, name := range []string{"net/tcp", "net/tcp6"} {
			f, err := d.open(name)
			if errors.Is(err, fs.ErrNotExist) { // a kernel without IPv6
				continue
			}
			if err != nil {
				yield(tcpSocket{}, err)
				return
			}
			defer f.Close()
			lines := bufio.NewScanner(f)
			for lines.Scan() {
				if s, ok := parseTCPSocket(lines.Bytes()); ok && !yield(s, nil) {
					return
				}
			}
			if err := lines.Err(); err != nil {
				yield(tcpSocket{}, err)
				return
			}
		}
	}
}

// parseTCPSocket parses a line. It returns false for the heading.
func parseTCPSocket(line []byte) (s tcpSocket, ok bool) {
	const local, remote, state, inode, listen = 1, 2, 3, 9, "0A"
	f := bytes.Fields(line)
	if len(f) <= inode {
		return s, false
	}
	number, err := strconv.ParseUint(string(f[inode]), 10, 64)
	s = tcpSocket{parseEnd(f[local]), parseEnd(f[remote]), string(f[state]) == listen, number}
	return s, err == nil && s.local.IsValid()
}

// parseEnd parses an address such as "0100007F:1F90": the words of the address in the byte order of the machine, and the
// port. What is none is not valid.
func parseEnd(field []byte) netip.AddrPort {
	address, port, _ := bytes.Cut(field, []byte(":"))
	raw, err := hex.DecodeString(string(address))
	n, portErr := strconv.ParseUint(string(port), 16, 16)
	if err != nil || portErr != nil || len(raw)%4 != 0 {
		return netip.AddrPort{}
	}
	for word := raw; len(word) > 0; word = word[4:] {
		binary.NativeEndian.PutUint32(word, binary.BigEndian.Uint32(word))
	}
	addr, ok := netip.AddrFromSlice(raw)
	if !ok {
		return netip.AddrPort{}
	}
	return netip.AddrPortFrom(addr.Unmap(), uint16(n))
}

func (f *procfs) Peer(p Process, c Connection) (Peer, error) {
	return verified(f, p, func(d pidDir) (Peer, error) {
		if c.local() {
			cred, err := unix.GetsockoptUcred(c.fd, unix.SOL_SOCKET, unix.SO_PEERCRED)
			if err != nil {
				return peerPending, err
			}
			return comparePeer(p, int(cred.Pid), int(cred.Uid)), nil
		}
		return d.tcpPeer(c)
	})
}

// tcpPeer reports whether the process has the other end of a TCP connection. It searches the network namespace of the
// process: one that is not ours does not have the connection. A server that listens on all addresses has an IPv6 socket.
func (d pidDir) tcpPeer(c Connection) (Peer, error) {
	for s, err := range d.tcpSockets() {
		switch {
		case err != nil:
			return peerPending, err
		case s.local != c.theirs || s.remote != c.ours || s.inode == 0:
			continue
		}
		own, err := d.socketInodes()
		switch {
		case err != nil:
			return peerPending, err
		case own[s.inode]:
			return peerProcess, nil
		}
		return peerOther, nil
	}
	return peerPending, nil
}
