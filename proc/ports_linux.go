package proc

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strconv"
	"strings"
)

// listenPorts joins the process's sockets with the listening ones of its network namespace.
func (d pidDir) listenPorts() ([]int, error) {
	own, err := d.sockets()
	if err != nil || len(own) == 0 {
		return nil, err
	}
	var ports []int
	err = d.listeners(func(port int, inode uint64) {
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

// listeners yields the listening TCP sockets of the process's network namespace. In our own the kernel is asked for those
// alone: its files of all sockets have it go through a table of some hundred thousand places, which takes milliseconds.
func (d pidDir) listeners(yield func(port int, inode uint64)) error {
	theirs, err := d.link("ns/net")
	if own, ownErr := (d + "../self/").link("ns/net"); err == nil && ownErr == nil && own == theirs {
		if found, err := diagnosed(); err == nil { // not every kernel and sandbox has it
			for _, l := range found {
				yield(l.port, l.inode)
			}
			return nil
		}
	}
	for _, name := range []string{"net/tcp", "net/tcp6"} {
		f, err := d.file(name)
		if errors.Is(err, fs.ErrNotExist) { // a kernel without IPv6
			continue
		}
		if err != nil {
			return err
		}
		err = listening(f, yield)
		f.Close()
		if err != nil {
			return err
		}
	}
	return nil
}

// sockets returns the inodes of the process's sockets.
func (d pidDir) sockets() (map[uint64]bool, error) {
	fds, err := d.numbers("fd")
	if err != nil {
		return nil, err
	}
	own := map[uint64]bool{}
	for _, fd := range fds {
		link, err := d.link("fd/" + strconv.Itoa(fd))
		if vanished(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if s, ok := strings.CutPrefix(link, "socket:["); ok {
			if inode, err := strconv.ParseUint(strings.TrimSuffix(s, "]"), 10, 64); err == nil {
				own[inode] = true
			}
		}
	}
	return own, nil
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

// parseListener reads a line of /proc/net/tcp, proc_pid_net(5). It is not ok for the heading and for any socket
// that does not listen.
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
