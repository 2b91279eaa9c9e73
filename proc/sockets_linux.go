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
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// listenPorts matches the sockets of the process with the listening ones of its network namespace.
func (d pidDir) listenPorts(ours listenersFunc) ([]int, error) {
	names, err := d.descriptors()
	if err != nil {
		return nil, err
	}
	own := socketInodes(names)
	if len(own) == 0 {
		return nil, nil
	}
	var ports []int
	err = d.listeners(ours, func(port int, inode uint64) {
		if own[inode] {
			ports = append(ports, port)
		}
	})
	if err != nil {
		return nil, err
	}
	slices.Sort(ports)
	return slices.Compact(ports), nil
}

// listeners yields the listening TCP sockets of the network namespace of the process.
func (d pidDir) listeners(ours listenersFunc, yield func(port int, inode uint64)) error {
	theirs, err := d.readlink("ns/net")
	if own, ownErr := (d + "../self/").readlink("ns/net"); err != nil || ownErr != nil || own != theirs {
		return d.readListeners(yield)
	}
	found, err := ours()
	for _, l := range found {
		yield(l.port, l.inode)
	}
	return err
}

// systemListeners returns those of our own network namespace, those of other users included.
func systemListeners() (all []listener, err error) {
	err = pidDir("/proc/self/").readListeners(func(port int, inode uint64) { all = append(all, listener{port, inode}) })
	return all, err
}

// readListeners yields the listening TCP sockets in the files of the process.
func (d pidDir) readListeners(yield func(port int, inode uint64)) error {
	for _, name := range []string{"net/tcp", "net/tcp6"} {
		f, err := d.open(name)
		if errors.Is(err, fs.ErrNotExist) { // a kernel without IPv6
			continue
		}
		if err != nil {
			return err
		}
		err = listening(f, yield)
		_ = f.Close() // it was only read
		if err != nil {
			return err
		}
	}
	return nil
}

// descriptors returns the kernel's names of the descriptors of the process.
func (d pidDir) descriptors() (names []string, err error) {
	fds, err := d.listNumbers("fd")
	if err != nil {
		return nil, err
	}
	for _, fd := range fds {
		name, err := d.readlink("fd/" + strconv.Itoa(fd))
		if vanished(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		names = append(names, name)
	}
	return names, nil
}

// socketInodes returns the inodes of the sockets among descriptors with these names.
func socketInodes(names []string) map[uint64]bool {
	own := map[uint64]bool{}
	for _, name := range names {
		if s, ok := strings.CutPrefix(name, "socket:["); ok {
			if inode, err := strconv.ParseUint(strings.TrimSuffix(s, "]"), 10, 64); err == nil {
				own[inode] = true
			}
		}
	}
	return own
}

// listening yields the listening sockets in r, a /proc/net/tcp or tcp6.
func listening(r io.Reader, yield func(port int, inode uint64)) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		if port, inode, ok := parseListener(lines.Bytes()); ok {
			yield(port, inode)
		}
	}
	return lines.Err()
}

// parseListener parses a line of /proc/net/tcp, proc_pid_net(5). It returns false for the heading and for a socket that
// does not listen.
func parseListener(line []byte) (port int, inode uint64, ok bool) {
	const local, state, node, listen = 1, 3, 9, "0A"
	i := 0
	for f := range bytes.FieldsSeq(line) {
		switch i {
		case local:
			n, err := strconv.ParseUint(string(f[bytes.LastIndexByte(f, ':')+1:]), 16, 16)
			if err != nil {
				return 0, 0, false
			}
			port = int(n)
		case state:
			if string(f) != listen {
				return 0, 0, false
			}
		case node:
			inode, err := strconv.ParseUint(string(f), 10, 64)
			return port, inode, err == nil
		}
		i++
	}
	return 0, 0, false
}

// listener is a listening TCP socket.
type listener struct {
	port  int
	inode uint64
}

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
