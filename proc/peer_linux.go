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

// tcpPeer tells whether a connection over TCP is one of the process's sockets. The network namespace is the process's: in
// another one than ours there is no such connection.
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

// serverSocket is the inode of the other end of a connection, 0 while nobody has accepted it.
func (d pidDir) serverSocket(c connection) (inode uint64, err error) {
	for _, name := range []string{"net/tcp", "net/tcp6"} { // one that listens on all addresses is of IPv6
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

// findSocket finds the socket between two addresses in r, a /proc/net/tcp or tcp6, proc_pid_net(5); 0 if there is none.
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

// parseEnd reads an address as in "0100007F:1F90": words of the address as the machine holds them, and the port. It is not
// valid for the heading.
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
