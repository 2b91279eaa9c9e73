package proc

import (
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"golang.org/x/sys/unix"
)

// ReadTable reads the process table. Processes that start or end meanwhile are left out. The system does not list its locks.
func ReadTable(ctx context.Context, _ bool) (*Table, error) {
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
			p.Arg0 = a.args[0]
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
			p.Exe, p.Deleted, p.Arg0 = was.Exe, was.Deleted, was.Arg0
			list = append(list, p)
		}
	}
	return NewTable(list, nil, nil).setHidden(false), nil
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

// kinfos returns processes without their binaries.
func kinfos(name string, args ...int) ([]Process, error) {
	raw, err := unix.SysctlKinfoProcSlice(name, args...)
	if errors.Is(err, unix.ESRCH) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("sysctl %s: %w", name, err)
	}
	var list []Process
	for i := range raw {
		list = append(list, processOf(&raw[i]))
	}
	return list, nil
}

func processOf(k *unix.KinfoProc) Process {
	start := k.Proc.P_starttime
	p := Process{
		ID:      ID{PID: int(k.Proc.P_pid), Birth: fmt.Sprintf("%d.%06d", start.Sec, start.Usec)},
		Parent:  int(k.Eproc.Ppid),
		Group:   int(k.Eproc.Pgid),
		UID:     int(k.Eproc.Ucred.Uid),
		Name:    cString(k.Proc.P_comm[:]),
		Started: time.Unix(start.Sec, int64(start.Usec)*1000).UTC(),
	}
	const letters = "\x00IRSTZ" // of [State], by p_stat (SIDL to SZOMB, bsd/sys/proc.h)
	if stat := int(k.Proc.P_stat); stat >= 0 && stat < len(letters) {
		p.State = State(letters[stat])
	}
	if k.Eproc.Tdev > 0 { // -1 is none
		p.TTYDevice = uint64(k.Eproc.Tdev)
	}
	return p
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

// newestPID is not known on macOS.
func newestPID() (int, bool) { return 0, false }

// listPIDs returns all processes. binary reads the path of the binary of one; it is "" where that may not be read.
func listPIDs() (pids []int, binary func(pid int) string, err error) {
	list, err := kinfos("kern.proc.all")
	for _, p := range list {
		pids = append(pids, p.ID.PID)
	}
	return pids, func(pid int) string {
		path, _ := exe(pid)
		return path
	}, err
}
