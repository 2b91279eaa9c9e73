package proc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// stat is the part of /proc/PID/stat, proc_pid_stat(5), that this package uses.
type stat struct {
	pid, parent, group, session int
	state                       State
	name                        string
	ticks                       uint64
	// cpuTicks is the processor time of the thread group (below task/: of the thread) in user and kernel mode, in ticks.
	cpuTicks uint64
	// threads is how many threads it has.
	threads int
	// forkNoExec: it was forked and has executed no program since (PF_FORKNOEXEC).
	forkNoExec bool
	// tty is the device number of the controlling terminal, as stat(2) has it; 0 if there is none.
	tty uint64
}

// Flags of proc_pid_stat(5), from the kernel's include/linux/sched.h.
const (
	pfExiting    = 0x4
	pfForkNoExec = 0x40
)

// parseStat parses the line. The name may contain any byte, ')' and newline included, so it ends at the last ')'.
func parseStat(line []byte) (stat, error) {
	open, end := bytes.IndexByte(line, '('), bytes.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return stat{}, errors.New("no name in it")
	}
	s := stat{name: string(line[open+1 : end])}
	var err error
	if s.pid, err = strconv.Atoi(string(bytes.TrimSpace(line[:open]))); err != nil {
		return stat{}, fmt.Errorf("pid: %w", err)
	}
	field := 2 // the number of the name, as the manual counts
	for f := range bytes.FieldsSeq(line[end+1:]) {
		if field++; field > 22 {
			break
		}
		if err := s.set(field, f); err != nil {
			return stat{}, fmt.Errorf("field %d: %w", field, err)
		}
	}
	if field < 22 {
		return stat{}, fmt.Errorf("%d fields, want at least 22", field)
	}
	return s, nil
}

func (s *stat) set(field int, text []byte) (err error) {
	switch field {
	case 3:
		if len(text) != 1 {
			return fmt.Errorf("state %q", text)
		}
		s.state = State(text[0])
	case 4:
		s.parent, err = strconv.Atoi(string(text))
	case 5:
		s.group, err = strconv.Atoi(string(text))
	case 6:
		s.session, err = strconv.Atoi(string(text))
	case 7:
		var device int64 // the kernel prints 32 bits as a signed number
		device, err = strconv.ParseInt(string(text), 10, 64)
		s.tty = ttyDevice(uint32(device))
	case 9:
		var flags uint64
		flags, err = strconv.ParseUint(string(text), 10, 64)
		s.forkNoExec = flags&pfForkNoExec != 0
		if flags&pfExiting != 0 && !s.state.Dead() { // it executes no more instructions, though the kernel does not call it a zombie yet
			s.state = 'X'
		}
	case 14, 15:
		var ticks uint64
		ticks, err = strconv.ParseUint(string(text), 10, 64)
		s.cpuTicks += ticks
	case 20:
		s.threads, err = strconv.Atoi(string(text))
	case 22:
		s.ticks, err = strconv.ParseUint(string(text), 10, 64)
	}
	return err
}
