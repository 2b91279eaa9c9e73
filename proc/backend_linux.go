package proc

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// verified reads one fact of the process that has p's pid, and returns it only if that process is p, is alive, and runs
// the program that p was read with. The last condition matters for a forked child: it has its parent's binary until it
// executes its own program, and its later arguments say nothing about the former.
func verified[T any](f *procfs, p Process, read func(pidDir) (T, error)) (T, error) {
	var none T
	d := f.pid(p.ID.PID)
	fact, failed := read(d)
	if err := f.checkAlive(d, p.ID); err != nil {
		return none, err
	}
	if exe, _, err := d.readTarget("exe"); p.Exe != "" && err == nil && exe != p.Exe {
		return none, ErrGone
	}
	if errors.Is(failed, unix.ESRCH) {
		return none, ErrGone // it has released its memory: the process is ending
	}
	if failed != nil {
		return none, failed
	}
	return fact, nil
}

// checkAlive returns ErrGone unless the process of the directory has this ID and is alive.
func (f *procfs) checkAlive(d pidDir, id ID) error {
	m, err := f.boot()
	if err != nil {
		return err
	}
	s, err := d.stat("stat")
	if err != nil {
		return err
	}
	if m.processID(s) != id || d.liveState(s).Dead() {
		return ErrGone
	}
	return nil
}

func (f *procfs) Args(p Process) ([]string, error) {
	return verified(f, p, func(d pidDir) ([]string, error) {
		raw, err := d.read("cmdline")
		if raw = bytes.TrimRight(raw, "\x00"); len(raw) == 0 { // one that was cleared still has as many bytes
			return nil, err
		}
		return strings.Split(string(raw), "\x00"), err
	})
}

func (f *procfs) Cwd(p Process) (string, error) {
	return verified(f, p, func(d pidDir) (string, error) {
		path, deleted, err := d.readTarget("cwd")
		if err == nil && f.pathDiffers(d, "cwd", path, deleted) {
			return "", pathError("readlink", string(d)+"cwd", ErrPathDiffers)
		}
		return path, err
	})
}

func (f *procfs) Env(p Process, keys []string) (map[string]string, error) {
	return verified(f, p, func(d pidDir) (map[string]string, error) {
		raw, err := d.read("environ")
		return selectEnv(raw, keys), err
	})
}

func (f *procfs) MayHaveEnv(p Process, keys []string) bool {
	d := f.pid(p.ID.PID) // whatever process has the pid now: if it is not p, p has ended
	var start [8 << 10]byte
	raw := d.readStart("environ", start[:])
	if len(raw) == len(start) {
		raw, _ = d.read("environ")
	}
	return len(selectEnv(raw, keys)) > 0
}

func (f *procfs) OpenFiles(p Process, match func(string) bool) ([]OpenFile, error) {
	return verified(f, p, func(d pidDir) ([]OpenFile, error) { return f.listOpenFiles(d, match) })
}

func (f *procfs) ListenPorts(p Process) ([]int, error) { return verified(f, p, pidDir.listenPorts) }

func (f *procfs) listOpenFiles(d pidDir, match func(string) bool) ([]OpenFile, error) {
	fds, err := d.listNumbers("fd")
	if err != nil {
		return nil, err
	}
	var files []OpenFile
	for _, fd := range fds {
		file, ok, err := f.openFile(d, fd, match)
		if vanished(err) {
			continue
		}
		if err != nil {
			return nil, err
		}
		if ok {
			files = append(files, file)
		}
	}
	return files, nil
}

// openFile describes one descriptor. It returns false if the descriptor is not a file, if match does not accept it, or if
// its number was reused during the reading.
func (f *procfs) openFile(d pidDir, fd int, match func(string) bool) (OpenFile, bool, error) {
	name := "fd/" + strconv.Itoa(fd)
	path, deleted, err := d.readTarget(name)
	if err != nil || !match(path) || !strings.HasPrefix(path, "/") {
		return OpenFile{}, false, err
	}
	raw, err := d.read("fdinfo/" + strconv.Itoa(fd))
	if err != nil {
		return OpenFile{}, false, err
	}
	info, err := parseFdinfo(raw)
	if err != nil {
		return OpenFile{}, false, pathError("parse", string(d)+"fdinfo/"+strconv.Itoa(fd), err)
	}
	elsewhere := f.pathDiffers(d, name, path, deleted)
	again, gone, err := d.readTarget(name)
	if elsewhere && gone && !deleted { // removed in between
		deleted, elsewhere = true, f.pathDiffers(d, name, path, true)
	}
	return OpenFile{
		FD: fd, Path: path, Deleted: deleted, PathDiffers: elsewhere, Proc: string(d) + name,
		Writable: info.writable, Offset: info.offset, WriteLocked: info.writeLocked, ReadLocked: info.readLocked,
	}, again == path, err
}

func (f *procfs) Credentials(p Process) (Credentials, error) {
	return verified(f, p, func(d pidDir) (Credentials, error) {
		s, err := d.status()
		if err != nil {
			return Credentials{}, err
		}
		if s.nsPIDs == nil { // a kernel without pid namespaces
			s.nsPIDs = []int{p.ID.PID}
		}
		return Credentials{UID: s.uid, PIDs: s.nsPIDs, Unshared: f.unshared(d)}, nil
	})
}

// unshared returns the namespaces that a process does not share with this one.
func (f *procfs) unshared(d pidDir) (apart Namespaces) {
	for name, kind := range map[string]Namespaces{
		"ns/user": UserNamespace, "ns/pid": PIDNamespace, "ns/net": NetworkNamespace,
	} {
		own := f.own()[name]
		if errors.Is(own.err, unix.ENOENT) {
			continue // a kernel without this kind
		}
		if theirs, err := d.readlink(name); err != nil || own.err != nil || theirs != own.target {
			apart |= kind
		}
	}
	if shared, err := f.hasOwnRoot(d); err != nil || !shared {
		apart |= MountNamespace
	}
	return apart
}

func (f *procfs) Usage(p Process) (Usage, error) {
	return verified(f, p, func(d pidDir) (Usage, error) {
		s, err := d.stat("stat")
		if err != nil {
			return Usage{}, err
		}
		raw, err := d.read("statm")
		if err != nil {
			return Usage{}, orGone(err)
		}
		// The second number of proc_pid_statm(5) is the resident pages.
		var size, resident int64
		if _, err := fmt.Sscan(string(raw), &size, &resident); err != nil {
			return Usage{}, pathError("parse", string(d)+"statm", err)
		}
		return Usage{CPU: time.Duration(s.cpuTicks) * (time.Second / clockTicks), Memory: resident * int64(os.Getpagesize())}, nil
	})
}

// Major numbers of terminals, from the kernel's Documentation/admin-guide/devices.txt.
const (
	ttyMajor     = 4   // virtual consoles, and serial ports from minor 64 on
	ptyMajor     = 136 // the first of the pseudoterminals' numbers
	ptyMajors    = 8
	ptysPerMajor = 256
	firstSerial  = 64
)

// ttyDevice converts field 7 of /proc/PID/stat, in which the kernel encodes a device number in 32 bits (new_encode_dev), to
// the device number that stat(2) returns.
func ttyDevice(encoded uint32) uint64 {
	if encoded == 0 {
		return 0
	}
	return unix.Mkdev(encoded>>8&0xfff, encoded&0xff|encoded>>12&0xfff00)
}

// ttyName returns the usual path of a terminal; "" for a kind of terminal that is not known.
func ttyName(device uint64) string {
	major, minor := unix.Major(device), unix.Minor(device)
	switch {
	case major >= ptyMajor && major < ptyMajor+ptyMajors:
		return "/dev/pts/" + strconv.FormatUint(uint64(major-ptyMajor)*ptysPerMajor+uint64(minor), 10)
	case major == ttyMajor && minor < firstSerial:
		return "/dev/tty" + strconv.FormatUint(uint64(minor), 10)
	case major == ttyMajor:
		return "/dev/ttyS" + strconv.FormatUint(uint64(minor-firstSerial), 10)
	}
	return ""
}

// tty: see [Process.TTY].
func (f *procfs) TTY(p Process) (string, error) {
	name := ttyName(p.TTYDevice)
	if name == "" {
		return "", ErrUnsupported
	}
	shared, err := f.SharesRoot(p)
	if err != nil {
		return "", err
	}
	var here unix.Stat_t
	if !shared || unix.Stat(name, &here) != nil || here.Mode&unix.S_IFMT != unix.S_IFCHR || here.Rdev != p.TTYDevice {
		return "", ErrPathDiffers
	}
	return name, nil
}

// parseLocks parses /proc/locks, proc_locks(5): "1: FLOCK  ADVISORY  WRITE 12783 fe:00:10225579 0 EOF". A line with "->" is of a
// process that waits for a lock.
func parseLocks(raw []byte) (locks []FileLock) {
	for line := range bytes.Lines(raw) {
		f := bytes.Fields(line)
		if len(f) < 6 || string(f[1]) == "->" {
			continue
		}
		pid, err := strconv.Atoi(string(f[4]))
		inode, err2 := strconv.ParseUint(string(f[5][bytes.LastIndexByte(f[5], ':')+1:]), 10, 64)
		if err == nil && err2 == nil && pid > 0 {
			locks = append(locks, FileLock{pid, inode})
		}
	}
	return locks
}

// firstArg returns the first argument; "" if it may not be read.
func (d pidDir) firstArg() string {
	var start [4096]byte // more than the longest path
	arg, _, _ := bytes.Cut(d.readStart("cmdline", start[:]), []byte{0})
	return string(arg)
}
