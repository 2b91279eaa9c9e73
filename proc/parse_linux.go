package proc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
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
func parseStat(line string) (stat, error) {
	open, end := strings.IndexByte(line, '('), strings.LastIndexByte(line, ')')
	if open < 0 || end < open {
		return stat{}, errors.New("no name in it")
	}
	s := stat{name: line[open+1 : end]}
	var err error
	if s.pid, err = strconv.Atoi(strings.TrimSpace(line[:open])); err != nil {
		return stat{}, fmt.Errorf("pid: %w", err)
	}
	field := 2 // the number of the name, as the manual counts
	for f := range strings.FieldsSeq(line[end+1:]) {
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

func (s *stat) set(field int, text string) (err error) {
	switch field {
	case 3:
		if len(text) != 1 {
			return fmt.Errorf("state %q", text)
		}
		s.state = State(text[0])
	case 4:
		s.parent, err = strconv.Atoi(text)
	case 5:
		s.group, err = strconv.Atoi(text)
	case 6:
		s.session, err = strconv.Atoi(text)
	case 7:
		var device int64 // the kernel prints 32 bits as a signed number
		device, err = strconv.ParseInt(text, 10, 64)
		s.tty = ttyDevice(uint32(device))
	case 9:
		var flags uint64
		flags, err = strconv.ParseUint(text, 10, 64)
		s.forkNoExec = flags&pfForkNoExec != 0
		if flags&pfExiting != 0 && !s.state.Dead() { // it executes no more instructions, though the kernel does not call it a zombie yet
			s.state = 'X'
		}
	case 14, 15:
		var ticks uint64
		ticks, err = strconv.ParseUint(text, 10, 64)
		s.cpuTicks += ticks
	case 20:
		s.threads, err = strconv.Atoi(text)
	case 22:
		s.ticks, err = strconv.ParseUint(text, 10, 64)
	}
	return err
}

// status is the part of /proc/PID/status, proc_pid_status(5), that this package uses.
type status struct {
	// group is the thread group: the pid of the process that a thread belongs to.
	group int
	// nsPIDs are the pids in each pid namespace, ours first; nil before Linux 4.1.
	nsPIDs []int
	// uid is the effective user, -1 if it is not in the file.
	uid int
}

// parseStatus parses the whole file. A name cannot forge a line, since the kernel escapes its newlines.
func parseStatus(raw []byte) (status, error) {
	s := status{uid: -1}
	for line := range bytes.Lines(raw) {
		key, value, _ := bytes.Cut(line, []byte{':'})
		switch string(key) {
		case "Tgid":
			numbers, err := parseInts(value)
			if err != nil || len(numbers) != 1 {
				return status{}, fmt.Errorf("thread group %q", value)
			}
			s.group = numbers[0]
		case "Uid": // real, effective, saved, of the file system
			numbers, err := parseInts(value)
			if err != nil || len(numbers) < 2 {
				return status{}, fmt.Errorf("users %q", value)
			}
			s.uid = numbers[1]
		case "NSpid":
			numbers, err := parseInts(value)
			if err != nil || len(numbers) == 0 {
				return status{}, fmt.Errorf("namespaced pids %q", value)
			}
			s.nsPIDs = numbers
		}
	}
	if s.group == 0 {
		return status{}, errors.New("no thread group in it")
	}
	return s, nil
}

func parseInts(text []byte) ([]int, error) {
	var numbers []int
	for f := range bytes.FieldsSeq(text) {
		n, err := strconv.Atoi(string(f))
		if err != nil {
			return nil, err
		}
		numbers = append(numbers, n)
	}
	return numbers, nil
}

// fdinfo is the part of /proc/PID/fdinfo/FD, proc_pid_fdinfo(5), that this package uses.
type fdinfo struct {
	offset                  int64
	writable                bool
	writeLocked, readLocked bool
}

func parseFdinfo(raw []byte) (fdinfo, error) {
	var info fdinfo
	var offset, flags bool
	for line := range bytes.Lines(raw) {
		key, value, _ := bytes.Cut(line, []byte{':'})
		switch value = bytes.TrimSpace(value); string(key) {
		case "pos":
			n, err := strconv.ParseInt(string(value), 10, 64)
			info.offset, offset = n, err == nil
		case "flags":
			n, err := strconv.ParseUint(string(value), 8, 64)
			info.writable, flags = n&unix.O_ACCMODE != unix.O_RDONLY, err == nil
		case "lock":
			kind := flockKind(value)
			info.writeLocked, info.readLocked = info.writeLocked || kind == "WRITE", info.readLocked || kind == "READ"
		}
	}
	if !offset || !flags {
		return fdinfo{}, errors.New("no position or flags in it")
	}
	return info, nil
}

// flockKind parses a line as in /proc/locks: "1: FLOCK  ADVISORY  WRITE 12783 fe:00:10225579 0 EOF". It returns "" for
// other kinds of locks. The kernel lists the locks of an open file under that file only, so the pid does not matter: it
// is that of the process that took the lock, which may have died and left the open file to this one.
func flockKind(lock []byte) string {
	f := bytes.Fields(lock)
	if len(f) > 3 && string(f[1]) == "FLOCK" {
		return string(f[3])
	}
	return ""
}
