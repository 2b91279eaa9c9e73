package proc

import (
	"errors"
	"fmt"
	"maps"
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
	pids := map[int]bool{}
	for _, p := range list {
		theirs[p.Pid()], pids[p.Pid()] = p, true
	}
	for p := range t.All() {
		pids[p.ID.PID] = true
	}
	for _, pid := range slices.Sorted(maps.Keys(pids)) {
		ours, listed := t.ByPID(pid)
		d := difference(pid, ours, listed, theirs[pid])
		for try := 0; d != nil && try < crossCheckTries; try++ {
			if ours, err = Inspect(pid); err != nil && !errors.Is(err, ErrGone) {
				return 0, nil, err
			}
			their, readErr := ps.FindProcess(pid)
			if readErr != nil { // of one that it cannot parse, or that ends meanwhile
				their = nil
			}
			d = difference(pid, ours, err == nil, their)
		}
		if d != nil {
			differences = append(differences, *d)
		}
	}
	return len(pids), differences, nil
}

// difference compares what both say of a process; listed and their != nil report whether each has it.
func difference(pid int, ours Process, listed bool, their ps.Process) *Difference {
	switch {
	case !listed && their == nil:
		return nil
	case !listed:
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
