package proc

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// status is what we use of /proc/PID/status, proc_pid_status(5).
type status struct {
	// group is the thread group: the pid of the process that a thread belongs to.
	group int
	// nsPIDs is the pid in each pid namespace, ours first; nil before Linux 4.1.
	nsPIDs []int
	// uid is the effective user, -1 where the file does not say.
	uid int
}

// parseStatus reads the whole file. The name in it cannot fake a line: the kernel escapes its newlines.
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
