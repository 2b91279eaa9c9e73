package proc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

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
