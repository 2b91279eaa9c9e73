package proc

import (
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

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

// process reads the table's facts of a process or thread. It opens the stat file first and reads it last: that read fails
// if the process was reaped in between, so all facts are of one process.
func (f *procfs) process(pid int) (Process, error) {
	m, err := f.boot()
	if err != nil {
		return Process{}, err
	}
	d := f.pid(pid)
	line, err := d.open("stat")
	if err != nil {
		return Process{}, orGone(err)
	}
	defer line.Close()
	p := Process{UID: -1, impl: f}
	var owner unix.Stat_t
	if unix.Stat(string(d), &owner) == nil {
		p.UID = int(owner.Uid)
	}
	// Another user's binary may not be read, and a kernel thread has none.
	if exe, deleted, err := d.readTarget("exe"); err == nil {
		p.Exe, p.Deleted, p.arg0 = exe, deleted, d.firstArg()
	}
	raw, err := readLimited(line)
	if err != nil {
		return Process{}, orGone(err)
	}
	s, err := parseStat(raw)
	if err != nil {
		return Process{}, pathError("parse", string(d)+"stat", err)
	}
	return p.with(m, s), nil
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
	raw, err := d.read(name)
	if err != nil {
		return stat{}, orGone(err)
	}
	s, err := parseStat(raw)
	if err != nil {
		return stat{}, pathError("parse", string(d)+name, err)
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
