package proc

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

func (f *procfs) Activity(p Process) (Activity, error) {
	return verified(f, p, func(d pidDir) (a Activity, err error) {
		if a.Sockets, err = d.socketInodes(); err != nil {
			return a, err
		}
		fds, err := d.listNumbers("fd")
		if err != nil {
			return a, err
		}
		for _, fd := range fds {
			if err := a.addFile(f, d, fd); err != nil && !vanished(err) {
				return a, err
			}
		}
		a.LastRun, err = f.lastRun(d)
		return a, err
	})
}

// addFile adds what one descriptor shows.
func (a *Activity) addFile(f *procfs, d pidDir, fd int) error {
	name, err := d.readlink("fd/" + strconv.Itoa(fd))
	if err != nil {
		return err
	}
	a.WatchesFiles = a.WatchesFiles || name == "anon_inode:inotify"
	file, ok, err := f.openFile(d, fd, func(string) bool { return true })
	if err != nil || !ok || !file.Writable {
		return err
	}
	info, err := os.Stat(file.Proc)
	if err != nil || !info.Mode().IsRegular() {
		return err
	}
	if at := info.ModTime(); at.After(a.LastWrite) {
		a.LastWrite = at
	}
	if at := info.ModTime(); fd <= 2 && at.After(a.LastOutput) {
		a.LastOutput = at
	}
	return nil
}

// lastRun returns when the newest thread of a process has run; zero if that is not known. The scheduler's clock is none of those that
// programs can read, and each processor has its own: it stands still while a hypervisor runs something else (SEEN: two processors that
// were 3 s apart after 13 hours). So the time of a thread is compared with the clock of the processor on which it ran.
func (f *procfs) lastRun(d pidDir) (time.Time, error) {
	threads, err := d.listNumbers("task")
	if err != nil {
		return time.Time{}, err
	}
	var allowed unix.CPUSet
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if unix.SchedGetaffinity(0, &allowed) != nil {
		return time.Time{}, nil
	}
	defer func() { _ = unix.SchedSetaffinity(0, &allowed) }()
	zeros := map[int]time.Time{} // when the clock of a processor was zero
	last := time.Time{}
	for _, thread := range threads {
		task := "task/" + strconv.Itoa(thread) + "/"
		cpu, known := d.lastProcessor(task)
		at, found := d.execStart(task)
		if !known || !found { // it has ended, or the kernel does not tell
			continue
		}
		zero, read := zeros[cpu]
		if !read {
			zero = f.clockZero(cpu)
			zeros[cpu] = zero
		}
		if zero.IsZero() {
			return time.Time{}, nil
		}
		if ran := zero.Add(at); ran.After(last) {
			last = ran
		}
	}
	if now := time.Now(); last.After(now) {
		return now, nil
	}
	return last, nil
}

// clockZero returns when the scheduler's clock of a processor was zero, by running on it; zero if this thread may not.
func (f *procfs) clockZero(cpu int) time.Time {
	var one unix.CPUSet
	one.Set(cpu)
	if unix.SchedSetaffinity(0, &one) != nil {
		return time.Time{}
	}
	ours, ok := pidDir(f.root + "/self/task/" + strconv.Itoa(unix.Gettid()) + "/").execStart("")
	if !ok {
		return time.Time{}
	}
	return time.Now().Add(-ours)
}

// lastProcessor returns the processor on which a thread ran last: field 39 of proc_pid_stat(5).
func (d pidDir) lastProcessor(thread string) (int, bool) {
	raw, err := d.read(thread + "stat")
	if err != nil {
		return 0, false
	}
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:]) // from the third on
	if len(fields) < 37 {
		return 0, false
	}
	cpu, err := strconv.Atoi(string(fields[36]))
	return cpu, err == nil
}

// execStart returns when a thread has begun to run, or was accounted for, by the clock of the scheduler.
func (d pidDir) execStart(thread string) (time.Duration, bool) {
	raw, err := d.read(thread + "sched")
	if err != nil {
		return 0, false
	}
	for line := range bytes.Lines(raw) {
		if name, value, ok := strings.Cut(string(line), ":"); ok && strings.TrimSpace(name) == "se.exec_start" {
			ms, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return time.Duration(ms * float64(time.Millisecond)), err == nil
		}
	}
	return 0, false
}

// Sizes and numbers of linux/inet_diag.h.
const (
	diagRequestSize = 56 // struct inet_diag_req_v2
	diagMessageSize = 72 // struct inet_diag_msg
	diagInfo        = 2  // INET_DIAG_INFO
	diagInode       = 68 // its idiag_inode
	tcpEstablished  = 1
	tcpSynSent      = 2
	tcpListening    = 10
)

// ReadTCPSockets reads the sockets of our network namespace by sock_diag(7).
func ReadTCPSockets() (list []TCPSocket, err error) {
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, unix.NETLINK_INET_DIAG)
	if err != nil {
		return nil, fmt.Errorf("reading the connections: %w", err)
	}
	defer unix.Close(fd)
	for _, family := range []byte{unix.AF_INET, unix.AF_INET6} {
		request := make([]byte, unix.SizeofNlMsghdr+diagRequestSize)
		binary.NativeEndian.PutUint32(request, uint32(len(request)))
		binary.NativeEndian.PutUint16(request[4:], unix.SOCK_DIAG_BY_FAMILY)
		binary.NativeEndian.PutUint16(request[6:], unix.NLM_F_REQUEST|unix.NLM_F_DUMP)
		body := request[unix.SizeofNlMsghdr:]
		body[0], body[1], body[2] = family, unix.IPPROTO_TCP, 1<<(diagInfo-1)
		binary.NativeEndian.PutUint32(body[4:], 1<<tcpEstablished|1<<tcpSynSent|1<<tcpListening)
		if err := unix.Sendto(fd, request, 0, &unix.SockaddrNetlink{Family: unix.AF_NETLINK}); err != nil {
			return nil, fmt.Errorf("reading the connections: %w", err)
		}
		if list, err = receiveSockets(fd, list); err != nil {
			return nil, fmt.Errorf("reading the connections: %w", err)
		}
	}
	return list, nil
}

// receiveSockets adds the sockets of one answer.
func receiveSockets(fd int, list []TCPSocket) ([]TCPSocket, error) {
	buffer := make([]byte, 1<<16)
	for {
		n, _, err := unix.Recvfrom(fd, buffer, 0)
		if err != nil {
			return list, err
		}
		for rest := buffer[:n]; len(rest) >= unix.SizeofNlMsghdr; {
			size, kind := int(binary.NativeEndian.Uint32(rest)), binary.NativeEndian.Uint16(rest[4:])
			if size < unix.SizeofNlMsghdr || size > len(rest) {
				return list, unix.EBADMSG
			}
			body := rest[unix.SizeofNlMsghdr:size]
			switch {
			case kind == unix.NLMSG_DONE:
				return list, nil
			case kind == unix.NLMSG_ERROR && len(body) >= 4:
				return list, unix.Errno(-int32(binary.NativeEndian.Uint32(body)))
			case kind == unix.SOCK_DIAG_BY_FAMILY && len(body) >= diagMessageSize:
				list = append(list, parseDiagnosis(body, time.Now()))
			}
			rest = rest[min(len(rest), (size+unix.NLMSG_ALIGNTO-1)&^(unix.NLMSG_ALIGNTO-1)):]
		}
	}
}

// parseDiagnosis parses a struct inet_diag_msg and the attributes that follow it.
func parseDiagnosis(body []byte, now time.Time) TCPSocket {
	end := func(port, address int) netip.AddrPort {
		length := 16
		if body[0] == unix.AF_INET {
			length = 4
		}
		addr, _ := netip.AddrFromSlice(body[address : address+length])
		return netip.AddrPortFrom(addr.Unmap(), binary.BigEndian.Uint16(body[port:]))
	}
	s := TCPSocket{
		Local: end(4, 8), Remote: end(6, 24), Listens: body[1] == tcpListening, Inode: uint64(binary.NativeEndian.Uint32(body[diagInode:])),
	}
	for rest := body[diagMessageSize:]; len(rest) >= unix.SizeofRtAttr; {
		size, kind := int(binary.NativeEndian.Uint16(rest)), binary.NativeEndian.Uint16(rest[2:])
		if size < unix.SizeofRtAttr || size > len(rest) {
			break
		}
		var info unix.TCPInfo
		sent, received := int(unsafe.Offsetof(info.Last_data_sent)), int(unsafe.Offsetof(info.Last_data_recv))
		if value := rest[unix.SizeofRtAttr:size]; kind == diagInfo && len(value) >= received+4 {
			idle := min(binary.NativeEndian.Uint32(value[sent:]), binary.NativeEndian.Uint32(value[received:]))
			s.LastMoved = now.Add(-time.Duration(idle) * time.Millisecond)
		}
		rest = rest[min(len(rest), (size+unix.RTA_ALIGNTO-1)&^(unix.RTA_ALIGNTO-1)):]
	}
	return s
}
