package proc

import (
	"errors"
	"fmt"
	"slices"

	ps "github.com/mitchellh/go-ps"
)

// Difference is a process for which go-ps and this package differ.
type Difference struct {
	PID int `json:"pid"`
	// Name is the process name as this package reads it; as go-ps reads it if the process is missing here.
	Name string `json:"name"`
	// Text describes the difference in a few words, such as "missing in go-ps".
	Text string `json:"difference"`
}

// crossCheckTries is how often a process is read again before a difference counts: a process may start, end, or change
// its name or parent between two readings.
const crossCheckTries = 10

// CrossCheck compares the table with the one that go-ps reads, process by process. It returns the number of processes
// compared, and the differences that remain when both are read again, by ascending pid. It fails if go-ps cannot read the
// process table.
func CrossCheck(t *Table) (compared int, differences []Difference, err error) {
	list, err := ps.Processes()
	if err != nil {
		return 0, nil, fmt.Errorf("go-ps: reading the process table: %w", err)
	}
	theirs := make(map[int]ps.Process, len(list))
	pids := make([]int, 0, len(list))
	for _, p := range list {
		theirs[p.Pid()] = p
		pids = append(pids, p.Pid())
	}
	for p := range t.All() {
		if theirs[p.ID.PID] == nil {
			pids = append(pids, p.ID.PID)
		}
	}
	slices.Sort(pids)
	for _, pid := range pids {
		ours, ok := t.ByPID(pid)
		d := difference(pid, ours, ok, theirs[pid])
		for range crossCheckTries {
			if d == nil {
				break
			}
			if d, err = inspectBoth(pid); err != nil {
				return 0, nil, err
			}
		}
		if d != nil {
			differences = append(differences, *d)
		}
	}
	return len(pids), differences, nil
}

// inspectBoth reads one process with both and returns how they differ, nil if they agree.
func inspectBoth(pid int) (*Difference, error) {
	ours, err := Inspect(pid)
	if err != nil && !errors.Is(err, ErrGone) {
		return nil, err
	}
	their, findErr := ps.FindProcess(pid)
	if findErr != nil {
		their = nil // go-ps reports a process that it cannot parse, and one that ends meanwhile, as an error
	}
	return difference(pid, ours, err == nil, their), nil
}

// difference compares what both say of a process; ok and their != nil report whether each lists it.
func difference(pid int, ours Process, ok bool, their ps.Process) *Difference {
	switch {
	case !ok && their == nil:
		return nil
	case !ok:
		return &Difference{pid, their.Executable(), "missing in agentctl"}
	case their == nil:
		return &Difference{pid, ours.Name, "missing in go-ps"}
	case ours.Name != their.Executable():
		return &Difference{pid, ours.Name, fmt.Sprintf("go-ps reads the name %q", their.Executable())}
	case ours.Parent != their.PPid():
		return &Difference{pid, ours.Name, fmt.Sprintf("its parent is %d, go-ps reads %d", ours.Parent, their.PPid())}
	}
	return nil
}
