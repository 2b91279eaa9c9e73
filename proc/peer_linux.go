package proc

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"io"
	"io/fs"
	"net/netip"
	"strconv"

	"golang.org/x/sys/unix"
)

func (f *procfs) peer(p Process, c connection) (peer, error) {
	return verified(f, p, func(d pidDir) (peer, error) {
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
// process: one that is not ours does not have the connection.
func (d pidDir) tcpPeer(c connection) (peer, error) {
	inode, err := d.serverSocket(c)
	if err != nil || inode == 0 {
		return peerPending, err
	}
	names, err := d.descriptors()
	switch {
	case err != nil:
		return peerPending, err
	case socketInodes(names)[inode]:
		return peerProcess, nil
	}
	return peerOther, nil
}

// serverSocket returns the inode of the other end of a connection; 0 while it is not accepted.
func (d pidDir) serverSocket(c connection) (inode uint64, err error) {
	for _, name := range []string{"net/tcp", "net/tcp6"} { // a server that listens on all addresses has an IPv6 socket
		f, err := d.open(name)
		if errors.Is(err, fs.ErrNotExist) { // a kernel without IPv6
			continue
		}
		if err != nil {
			return 0, err
		}
		inode, err = findSocket(f, c.theirs, c.ours)
		_ = f.Close() // it was only read
		if inode != 0 || err != nil {
			return inode, err
		}
	}
	return 0, nil
}

// findSocket returns the inode of the socket between two addresses in r, a /proc/net/tcp or tcp6, proc_pid_net(5); 0 if
// there is none.
func findSocket(r io.Reader, local, remote netip.AddrPort) (inode uint64, err error) {
	const ours, theirs, node = 1, 2, 9
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := bytes.Fields(lines.Bytes())
		if len(fields) <= node || parseEnd(fields[ours]) != local || parseEnd(fields[theirs]) != remote {
			continue
		}
		return strconv.ParseUint(string(fields[node]), 10, 64)
	}
	return 0, lines.Err()
}

// parseEnd parses an address such as "0100007F:1F90": the words of the address in the byte order of the machine, and the
// port. The result is not valid for the heading.
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
