package proc

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// ReadTable reads the process table. Processes that end meanwhile, or that the system hides (see [Table.Hidden]), are
// left out. It fails if the table cannot be read. With [ErrNamespace] it returns a table of this process alone, of which
// nothing more can be read. With locks, [Table.LockHolders] will be asked: the locks are read at the same time, if that is faster.
func ReadTable(ctx context.Context, locks bool) (*Table, error) {
	return mount(systemRoot).readTable(ctx, locks)
}

// Inspect reads one process by pid; it may be a zombie. It returns [ErrGone] if there is none. The ID of a thread is
// none.
func Inspect(pid int) (Process, error) { return mount(systemRoot).inspect(pid) }

func (f *procfs) readTable(ctx context.Context, locks bool) (*Table, error) {
	if _, err := f.boot(); errors.Is(err, ErrNamespace) {
		return f.selfTable(), err
	} else if err != nil {
		return nil, err
	}
	readLocks := sync.OnceValue(func() []FileLock {
		raw, _ := pidDir(f.root + "/").read("locks") // a hint where to look: what cannot be read is left out
		return parseLocks(raw)
	})
	pids, err := pidDir(f.root + "/").listNumbers("") // thread groups: the kernel leaves other threads out of the listing
	if err != nil {
		return nil, fmt.Errorf("reading the process table: %w", err)
	}
	if locks && len(pids) >= manyProcesses {
		go readLocks()
	}
	read, errs := make([]Process, len(pids)), make([]error, len(pids))
	parallel(len(pids), func(i int) {
		if errs[i] = ctx.Err(); errs[i] == nil {
			read[i], errs[i] = f.process(pids[i])
		}
	})
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	list := make([]Process, 0, len(pids))
	var unread []error
	hidden := false
	for i, p := range read {
		switch err := errs[i]; {
		case err == nil:
			list = append(list, p)
		case denied(err):
			hidden = true
		case !errors.Is(err, ErrGone):
			unread = append(unread, err)
		}
	}
	return NewTable(list, readLocks, errors.Join(unread...)).setHidden(hidden), nil
}

// manyProcesses is the number of processes from which on the kernel's locks are read at the same time. Reading /proc/locks takes 10 ms, most of
// it waiting for all processors (RCU); reading so many processes takes as long. With fewer processes, a command that does not use the locks
// in the end would wait for them when it exits.
const manyProcesses = 300

// selfTable returns a table of this process, with the pids of our own pid namespace; it is empty if that cannot be read.
func (f *procfs) selfTable() *Table {
	d := pidDir(f.root + "/self/")
	m, err := readBootInfo(f.root)
	if err != nil {
		return EmptyTable()
	}
	s, err := d.stat("stat")
	if err != nil {
		return EmptyTable()
	}
	s.pid, s.parent, s.group, s.session = os.Getpid(), os.Getppid(), 0, 0
	p := Process{UID: os.Geteuid(), Backend: f}
	p.Exe, p.Deleted, _ = d.readTarget("exe")
	return NewTable([]Process{p.with(m, s)}, nil, nil)
}

// listPIDs returns all processes. binary reads the path of the binary of one; it is "" where that may not be read.
func listPIDs() (pids []int, binary func(pid int) string, err error) {
	f := mount(systemRoot)
	pids, err = pidDir(f.root + "/").listNumbers("")
	return pids, func(pid int) string {
		path, _, _ := f.pid(pid).readTarget("exe")
		return path
	}, err
}

// newestPID returns the newest pid of our pid namespace, of a process or a thread: the last field of /proc/loadavg. It is false where that may
// not be read. A file system that imitates /proc for a container may update it seconds late.
func newestPID() (int, bool) {
	var line [256]byte
	words := bytes.Fields(pidDir(systemRoot+"/").readStart("loadavg", line[:]))
	if len(words) != 5 {
		return 0, false
	}
	pid, err := strconv.Atoi(string(words[4]))
	return pid, err == nil
}

// clockTicks is USER_HZ: the kernel's ABI fixes it at 100 on every architecture that Go supports.
const clockTicks = 100

func (f *procfs) inspect(pid int) (Process, error) {
	p, err := f.process(pid)
	if err != nil {
		return Process{}, err
	}
	status, err := f.pid(pid).status()
	if err != nil {
		return Process{}, err
	}
	if status.group != pid {
		return Process{}, ErrGone
	}
	return p, nil
}

// process reads the table's facts of a process or thread. It opens the stat file first and reads it after all others:
// that read fails if the process was reaped in between, so all facts but the first argument, a hint, are of one process.
func (f *procfs) process(pid int) (Process, error) {
	m, err := f.boot()
	if err != nil {
		return Process{}, err
	}
	d := f.pid(pid)
	line, err := d.openDescriptor("stat")
	if err != nil {
		return Process{}, orGone(err)
	}
	defer unix.Close(line)
	p := Process{UID: -1, Backend: f}
	var owner unix.Stat_t
	if unix.Stat(string(d), &owner) == nil {
		p.UID = int(owner.Uid)
	}
	// Another user's binary may not be read, and a kernel thread has none.
	if exe, deleted, err := d.readTarget("exe"); err == nil {
		p.Exe, p.Deleted = exe, deleted
	}
	s, err := readStat(line, string(d)+"stat")
	if err != nil {
		return Process{}, err
	}
	s.state = d.liveState(s)
	p = p.with(m, s)
	if p.isExamined() { // the hint costs as much as all the rest: not for what cannot be an agent
		p.Arg0 = d.firstArg()
	}
	return p, nil
}

// liveState returns the state of a process: that of its main thread, but if that has ended and another thread lives, the other's.
func (d pidDir) liveState(s stat) State {
	if !s.state.Dead() || s.threads <= 1 {
		return s.state
	}
	tids, _ := d.listNumbers("task") // none are left if it cannot be read
	for _, tid := range tids {
		if t, err := d.stat("task/" + strconv.Itoa(tid) + "/stat"); err == nil && !t.state.Dead() {
			return t.state
		}
	}
	return s.state
}

func (p Process) with(m bootInfo, s stat) Process {
	p.ID, p.Ticks, p.Name, p.State = m.processID(s), s.ticks, s.name, s.state
	p.Parent, p.Group, p.Session, p.ForkNoExec, p.TTYDevice = s.parent, s.group, s.session, s.forkNoExec, s.tty
	p.threads = s.threads
	if !m.time.IsZero() {
		p.Started = m.time.Add(time.Duration(s.ticks) * (time.Second / clockTicks))
	}
	if !m.exactTime.IsZero() {
		p.preciseStart = m.exactTime.Add(time.Duration(s.ticks) * (time.Second / clockTicks))
	}
	return p
}

func (m bootInfo) processID(s stat) ID {
	return ID{PID: s.pid, Birth: m.id + "/" + strconv.FormatUint(s.ticks, 10)}
}

func (d pidDir) stat(name string) (stat, error) {
	fd, err := d.openDescriptor(name)
	if err != nil {
		return stat{}, orGone(err)
	}
	defer unix.Close(fd)
	return readStat(fd, string(d)+name)
}

// readStat reads an open stat file. The kernel gives it in one piece; the first 22 fields, which are used, never take 1024 bytes.
func readStat(fd int, path string) (stat, error) {
	var line [1024]byte
	n, err := retry(func() (int, error) { return unix.Read(fd, line[:]) })
	if err != nil {
		return stat{}, orGone(pathError("read", path, err))
	}
	s, err := parseStat(string(line[:n]))
	if err != nil {
		return stat{}, pathError("parse", path, err)
	}
	return s, nil
}

func (d pidDir) status() (status, error) {
	raw, err := d.read("status")
	if err != nil {
		return status{}, orGone(err)
	}
	s, err := parseStatus(raw)
	if err != nil {
		return status{}, pathError("parse", string(d)+"status", err)
	}
	return s, nil
}

// orGone returns ErrGone for an error that says that the process no longer exists, else err.
func orGone(err error) error {
	if vanished(err) {
		return ErrGone
	}
	return err
}
