package proc

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// System returns what answers for the processes of this system.
func System() Backend { return xnu{} }

// BootTime returns when the machine has started, in UTC.
func BootTime() (time.Time, error) {
	t, err := unix.SysctlTimeval("kern.boottime")
	if err != nil {
		return time.Time{}, err
	}
	return time.Unix(t.Unix()).UTC(), nil
}

// xnu is the backend of the macOS kernel.
type xnu struct{}

// verified reads one fact of the process that has p's pid, and returns it only if that process is p and is alive.
func verified[T any](p Process, read func(pid int) (T, error)) (T, error) {
	var none T
	fact, failed := read(p.ID.PID)
	now, err := kinfoOf(p.ID.PID)
	if err != nil {
		return none, err
	}
	if now.ID != p.ID || !now.Alive() {
		return none, ErrGone
	}
	if errors.Is(failed, unix.EINVAL) && now.UID != unix.Geteuid() { // so kern.procargs2 says of another user's
		return none, fmt.Errorf("process %d of another user: %w", p.ID.PID, fs.ErrPermission)
	}
	if failed != nil {
		return none, failed
	}
	return fact, nil
}

func (xnu) Args(p Process) ([]string, error) {
	return verified(p, func(pid int) ([]string, error) {
		a, err := readProcargs(pid)
		for len(a.args) > 0 && a.args[len(a.args)-1] == "" {
			a.args = a.args[:len(a.args)-1]
		}
		return a.args, err
	})
}

func (xnu) Cwd(p Process) (string, error) { return verified(p, cwd) }

func (xnu) Env(p Process, keys []string) (map[string]string, error) {
	return verified(p, func(pid int) (map[string]string, error) {
		a, err := readProcargs(pid)
		return selectEnv(a.environ, keys), err
	})
}

func (xnu) MayHaveEnv(Process, []string) bool { return true }

func (xnu) OpenFiles(p Process, match func(string) bool) ([]OpenFile, error) {
	return verified(p, func(pid int) ([]OpenFile, error) {
		var files []OpenFile
		err := eachFD(pid, fdVnode, flavorFDFile, fileSize, func(number int, raw []byte) error {
			file, err := parseFile(number, raw)
			if err == nil && file.Path != "" && match(file.Path) {
				files = append(files, file)
			}
			return err
		})
		return files, err
	})
}

func (xnu) ListenPorts(p Process) ([]int, error) {
	return verified(p, func(pid int) ([]int, error) {
		var ports []int
		err := eachFD(pid, fdSocket, flavorFDSocket, socketSize, func(_ int, raw []byte) error {
			port, ok, err := parseSocket(raw)
			if ok {
				ports = append(ports, port)
			}
			return err
		})
		slices.Sort(ports)
		return slices.Compact(ports), err
	})
}

func (xnu) Activity(Process) (Activity, error) { return Activity{}, ErrUnsupported }

// ReadTCPSockets is not supported.
func ReadTCPSockets() ([]TCPSocket, error) { return nil, ErrUnsupported }

// credentials: macOS has no namespaces.
func (xnu) Credentials(p Process) (Credentials, error) {
	return verified(p, func(pid int) (Credentials, error) { return Credentials{UID: p.UID, PIDs: []int{pid}}, nil })
}

// There is one mount namespace. chroot(2) is not taken into account: no agent runs so.
func (xnu) SharesRoot(Process) (bool, error)       { return true, nil }
func (xnu) SamePath(Process, string) (bool, error) { return true, nil }

// eachFD calls use with the kernel's answer for each descriptor of a kind. It skips one that was closed meanwhile, or
// whose file has no name any more.
func eachFD(pid, kind, flavor, size int, use func(number int, raw []byte) error) error {
	fds, err := descriptors(pid)
	if err != nil {
		return err
	}
	slices.SortFunc(fds, func(a, b fd) int { return a.number - b.number })
	for _, f := range fds {
		if f.kind != kind {
			continue
		}
		raw, err := procInfo(callPIDFDInfo, pid, flavor, f.number, make([]byte, size))
		if errors.Is(err, unix.EBADF) || errors.Is(err, unix.ENOENT) || errors.Is(err, unix.EINVAL) {
			continue
		}
		if err != nil {
			return fmt.Errorf("descriptor %d of process %d: %w", f.number, pid, err)
		}
		if err := use(f.number, raw); err != nil {
			return err
		}
	}
	return nil
}

// tty searches /dev, as ttyname(3) does.
func (xnu) TTY(p Process) (string, error) {
	entries, err := os.ReadDir("/dev")
	if err != nil {
		return "", err
	}
	for _, e := range entries {
		var here unix.Stat_t
		path := filepath.Join("/dev", e.Name())
		if strings.HasPrefix(e.Name(), "tty") && unix.Stat(path, &here) == nil && here.Mode&unix.S_IFMT == unix.S_IFCHR && uint64(uint32(here.Rdev)) == p.TTYDevice {
			return path, nil
		}
	}
	return "", ErrPathDiffers
}

func (xnu) Usage(p Process) (Usage, error) {
	return verified(p, func(pid int) (Usage, error) {
		frequency, err := unix.SysctlUint64("hw.tbfrequency") // 10⁹ on Intel, 24·10⁶ on Apple's own
		if err != nil {
			return Usage{}, fmt.Errorf("hw.tbfrequency: %w", err)
		}
		raw, err := procInfo(callPIDInfo, pid, flavorTask, 0, make([]byte, taskSize))
		if err != nil {
			return Usage{}, fmt.Errorf("usage of process %d: %w", pid, err)
		}
		return parseTask(raw, frequency)
	})
}

func (xnu) Peer(p Process, c Connection) (Peer, error) {
	return verified(p, func(pid int) (Peer, error) {
		if c.local() {
			listens, err := unix.GetsockoptInt(c.fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
			if err != nil {
				return peerPending, err
			}
			cred, err := unix.GetsockoptXucred(c.fd, unix.SOL_LOCAL, unix.LOCAL_PEERCRED)
			if err != nil {
				return peerPending, err
			}
			return comparePeer(p, listens, int(cred.Uid)), nil
		}
		by := peerOther // macOS lists the sockets of one process only, so that peerPending cannot be told apart
		err := eachFD(pid, fdSocket, flavorFDSocket, socketSize, func(_ int, raw []byte) error {
			local, remote, err := parseEnds(raw)
			if local == c.theirs && remote == c.ours {
				by = peerProcess
			}
			return err
		})
		return by, err
	})
}
