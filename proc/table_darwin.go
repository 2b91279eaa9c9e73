package proc

import (
	"context"
	"errors"
	"fmt"
	"path"
	"unsafe"

	"golang.org/x/sys/unix"
)

// The offsets of kinfo.go hold: each line fails to compile if its difference is not zero.
var (
	_ [0]byte = [unsafe.Offsetof(unix.ExternProc{}.P_stat) - kinfoState]byte{}
	_ [0]byte = [unsafe.Offsetof(unix.ExternProc{}.P_pid) - kinfoPID]byte{}
	_ [0]byte = [unsafe.Offsetof(unix.ExternProc{}.P_comm) - kinfoName]byte{}
	_ [0]byte = [kinfoNameEnd - kinfoName - len(unix.ExternProc{}.P_comm)]byte{}
	_ [0]byte = [unsafe.Offsetof(unix.ExternProc{}.P_starttime) - kinfoSeconds]byte{}
	_ [0]byte = [unsafe.Offsetof(unix.Timeval{}.Usec) - kinfoMicros]byte{}
	_ [0]byte = [eproc + unsafe.Offsetof(unix.Eproc{}.Ucred) + unsafe.Offsetof(unix.Ucred{}.Uid) - kinfoUser]byte{}
	_ [0]byte = [eproc + unsafe.Offsetof(unix.Eproc{}.Ppid) - kinfoParent]byte{}
	_ [0]byte = [eproc + unsafe.Offsetof(unix.Eproc{}.Pgid) - kinfoGroup]byte{}
	_ [0]byte = [eproc + unsafe.Offsetof(unix.Eproc{}.Tdev) - kinfoTTY]byte{}
	_ [0]byte = [unix.SizeofKinfoProc - kinfoSize]byte{}
)

const eproc = unsafe.Offsetof(unix.KinfoProc{}.Eproc)

// ReadTable reads the process table. Processes that start or end meanwhile are left out.
func ReadTable(ctx context.Context) (*Table, error) {
	before, err := kinfos("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("reading the process table: %w", err)
	}
	for i := range before {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		p := &before[i]
		p.Exe, p.Deleted = exe(p.ID.PID)
		if a, err := readProcargs(p.ID.PID); err == nil && len(a.args) > 0 {
			p.arg0 = a.args[0]
		}
	}
	// A path that was read between two moments at which the pid had the same birth belongs to that process.
	after, err := kinfos("kern.proc.all")
	if err != nil {
		return nil, fmt.Errorf("reading the process table: %w", err)
	}
	seen := make(map[ID]Process, len(before))
	for _, p := range before {
		seen[p.ID] = p
	}
	list := after[:0]
	for _, p := range after {
		if was, ok := seen[p.ID]; ok {
			p.Exe, p.Deleted, p.arg0 = was.Exe, was.Deleted, was.arg0
			list = append(list, p)
		}
	}
	return newTable(list).setHidden(false), nil
}

// Inspect reads one process by pid; it may be a zombie. It returns [ErrGone] if there is none.
func Inspect(pid int) (Process, error) {
	before, err := kinfoOf(pid)
	if err != nil {
		return Process{}, err
	}
	file, deleted := exe(pid)
	p, err := kinfoOf(pid)
	if err != nil {
		return Process{}, err
	}
	if p.ID != before.ID {
		return Inspect(pid)
	}
	p.Exe, p.Deleted = file, deleted
	return p, nil
}

func kinfoOf(pid int) (Process, error) {
	list, err := kinfos("kern.proc.pid", pid)
	if err != nil {
		return Process{}, fmt.Errorf("process %d: %w", pid, err)
	}
	if len(list) == 0 {
		return Process{}, ErrGone
	}
	return list[0], nil
}

// kinfos repeats the call while the table outgrows the buffer.
func kinfos(name string, args ...int) ([]Process, error) {
	for {
		raw, err := unix.SysctlRaw(name, args...)
		if errors.Is(err, unix.ENOMEM) {
			continue
		}
		if errors.Is(err, unix.ESRCH) {
			return nil, nil
		}
		if err != nil {
			return nil, fmt.Errorf("sysctl %s: %w", name, err)
		}
		return parseKinfos(raw)
	}
}

// exe returns the path of the running binary. The kernel has none for a removed binary; then it is the path that was
// executed, if that is absolute.
func exe(pid int) (file string, deleted bool) {
	if file, err := pidPath(pid); err == nil {
		return file, false
	} else if !errors.Is(err, unix.ENOENT) {
		return "", false
	}
	a, err := readProcargs(pid)
	if err != nil || !path.IsAbs(a.exec) {
		return "", false
	}
	return a.exec, true
}

// listBinaries returns the binaries of all processes by pid; "" where one may not be read.
func listBinaries() (map[int]string, error) {
	list, err := kinfos("kern.proc.all")
	binaries := map[int]string{}
	for _, p := range list {
		binaries[p.ID.PID], _ = exe(p.ID.PID)
	}
	return binaries, err
}
