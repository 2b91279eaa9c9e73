package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"net/netip"
	"time"
)

// Layouts of macOS's proc_info system call on 64 bits, in bytes (XNU bsd/sys/proc_info.h).
const (
	fdSize   = 8 // struct proc_fdinfo: proc_fd int32, proc_fdtype uint32
	fdVnode  = 1 // PROX_FDTYPE_VNODE
	fdSocket = 2 // PROX_FDTYPE_SOCKET

	cwdPath = 152  // struct proc_vnodepathinfo: pvi_cdir.vip_path
	cwdSize = 2352 // all of it

	fileFlags  = 0   // struct vnode_fdinfowithpath: pfi.fi_openflags, the kernel's FREAD 1 and FWRITE 2
	fileOffset = 8   // pfi.fi_offset, int64
	filePath   = 176 // pvip.vip_path
	fileSize   = 1200

	socketKind   = 256 // struct socket_fdinfo: psi.soi_kind
	socketRemote = 264 // psi.soi_proto.pri_tcp.tcpsi_ini.insi_fport, in network byte order
	socketPort   = 268 // insi_lport, likewise
	socketFamily = 288 // insi_vflag, one byte
	socketTheirs = 296 // insi_faddr, 16 bytes: an IPv4 address is the last 4
	socketOurs   = 312 // insi_laddr, likewise
	socketState  = 344 // psi.soi_proto.pri_tcp.tcpsi_state
	socketSize   = 792
	socketTCP    = 2 // SOCKINFO_TCP
	tcpListen    = 1 // TSI_S_LISTEN
	inetIPv4     = 1 // INI_IPV4

	taskMemory = 8  // struct proc_taskinfo: pti_resident_size, uint64
	taskUser   = 16 // pti_total_user, uint64, in ticks of the machine's time base
	taskSystem = 24 // pti_total_system
	taskSize   = 96

	pathMax = 1024 // MAXPATHLEN
)

// fd is one open descriptor.
type fd struct{ number, kind int }

// parseFDs parses the result of PROC_PIDLISTFDS.
func parseFDs(raw []byte) []fd {
	var fds []fd
	for ; len(raw) >= fdSize; raw = raw[fdSize:] {
		fds = append(fds, fd{int(int32(binary.LittleEndian.Uint32(raw))), int(binary.LittleEndian.Uint32(raw[4:]))})
	}
	return fds
}

// parseCwd parses the result of PROC_PIDVNODEPATHINFO.
func parseCwd(raw []byte) (string, error) {
	if len(raw) < cwdSize {
		return "", tooShort(len(raw), cwdSize)
	}
	return cString(raw[cwdPath : cwdPath+pathMax]), nil
}

// parseFile parses the result of PROC_PIDFDVNODEPATHINFO.
func parseFile(number int, raw []byte) (OpenFile, error) {
	if len(raw) < fileSize {
		return OpenFile{}, tooShort(len(raw), fileSize)
	}
	const fwrite = 2
	return OpenFile{
		FD:       number,
		Path:     cString(raw[filePath : filePath+pathMax]),
		Writable: binary.LittleEndian.Uint32(raw[fileFlags:])&fwrite != 0,
		Offset:   int64(binary.LittleEndian.Uint64(raw[fileOffset:])),
	}, nil
}

// parseSocket parses the result of PROC_PIDFDSOCKETINFO. It returns false unless the socket listens for TCP connections.
func parseSocket(raw []byte) (port int, ok bool, err error) {
	if len(raw) < socketSize {
		return 0, false, tooShort(len(raw), socketSize)
	}
	le := binary.LittleEndian
	if le.Uint32(raw[socketKind:]) != socketTCP || le.Uint32(raw[socketState:]) != tcpListen {
		return 0, false, nil
	}
	return int(binary.BigEndian.Uint16(raw[socketPort:])), true, nil
}

// parseEnds parses the result of PROC_PIDFDSOCKETINFO: the two ends of a TCP connection, not valid for any other socket.
func parseEnds(raw []byte) (local, remote netip.AddrPort, err error) {
	if len(raw) < socketSize {
		return local, remote, tooShort(len(raw), socketSize)
	}
	if binary.LittleEndian.Uint32(raw[socketKind:]) != socketTCP {
		return local, remote, nil
	}
	end := func(address, port int) netip.AddrPort {
		addr := netip.AddrFrom16([16]byte(raw[address:])).Unmap()
		if raw[socketFamily]&inetIPv4 != 0 {
			addr = netip.AddrFrom4([4]byte(raw[address+12:]))
		}
		return netip.AddrPortFrom(addr, binary.BigEndian.Uint16(raw[port:]))
	}
	return end(socketOurs, socketPort), end(socketTheirs, socketRemote), nil
}

// parseTask parses the result of PROC_PIDTASKINFO; frequency is the ticks of the time base in a second.
func parseTask(raw []byte, frequency uint64) (Usage, error) {
	if len(raw) < taskSize {
		return Usage{}, tooShort(len(raw), taskSize)
	}
	if frequency == 0 {
		return Usage{}, errors.New("a time base that stands still")
	}
	le := binary.LittleEndian
	ticks := le.Uint64(raw[taskUser:]) + le.Uint64(raw[taskSystem:])
	whole, rest := ticks/frequency, ticks%frequency // apart, or a quarter of an hour would overflow
	return Usage{
		CPU:    time.Duration(whole)*time.Second + time.Duration(rest*uint64(time.Second)/frequency),
		Memory: int64(le.Uint64(raw[taskMemory:])),
	}, nil
}

func tooShort(got, want int) error { return fmt.Errorf("%d bytes from the kernel, want %d", got, want) }

// cString returns the bytes of a character array before its first NUL.
func cString(array []byte) string {
	text, _, _ := bytes.Cut(array, []byte{0})
	return string(text)
}

// procargs is the result of macOS's sysctl kern.procargs2: the number of arguments, the path given to execve(2), padding,
// the arguments, the environment, and after an empty string those that Apple adds (XNU bsd/kern/kern_sysctl.c).
type procargs struct {
	exec    string
	args    []string
	environ []byte // NUL-terminated strings; empty where the system withholds it, as for its own programs
}

// parseProcargs parses the result. The length of the padding is not in it, so leading empty arguments count as padding,
// and as many variables as arguments; no shell or agent starts a program with an empty name.
func parseProcargs(raw []byte) (procargs, error) {
	if len(raw) < 4 {
		return procargs{}, errors.New("no argument count in it")
	}
	count := int(int32(binary.LittleEndian.Uint32(raw)))
	exec, rest, ok := bytes.Cut(raw[4:], []byte{0})
	if !ok || count < 0 || count > len(rest) {
		return procargs{}, errors.New("torn arguments")
	}
	rest = bytes.TrimLeft(rest, "\x00")
	a := procargs{exec: string(exec)}
	for range count {
		arg, after, ok := bytes.Cut(rest, []byte{0})
		if !ok {
			return procargs{}, errors.New("torn arguments")
		}
		a.args, rest = append(a.args, string(arg)), after
	}
	end := bytes.Index(rest, []byte{0, 0})
	switch {
	case bytes.HasPrefix(rest, []byte{0}): // no environment
	case end < 0: // torn: the last one is not whole
		a.environ = rest[:bytes.LastIndexByte(rest, 0)+1]
	default:
		a.environ = rest[:end+1]
	}
	return a, nil
}
