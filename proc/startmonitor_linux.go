package proc

import (
	"bytes"
	"fmt"
	"strconv"
)

// pace says which calls of a Roll list the processes.
type pace struct {
	newest  int // the pid that was assigned last at the call before
	settled int // the call after which all processes that have begun run their own program
}

// turns is in how many calls all processes are listed and asked once, whatever is seen to change.
const turns = 8

// due reports whether a call, counted from 1, lists the processes, and whether it asks all of them for their binaries. While the system has
// assigned no pid, none has begun: that saves the listing, which is most of what a call costs.
func (p *pace) due(call int) (list, all bool) {
	all = call%turns == 0
	newest := newestPID()
	if newest == 0 || newest != p.newest {
		p.newest, p.settled = newest, call+settling
	}
	return all || call <= p.settled, all
}

// newestPID is the pid that the system has assigned last, to a process or a thread; 0 where it does not say. It is the last
// field of /proc/loadavg (Linux, proc_loadavg(5)), in the reader's pid namespace.
func newestPID() int {
	raw, err := readIfThere(systemRoot, "loadavg")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(raw)
	if len(fields) == 0 {
		return 0
	}
	pid, err := strconv.Atoi(string(fields[len(fields)-1]))
	if err != nil {
		return 0
	}
	return pid
}

// roll lists the processes, ascending, and reads the binary of the i-th when it is asked for: "" where that may not be
// read.
func roll() (pids []int, exe func(i int) string, err error) {
	f := &procfs{root: systemRoot}
	if pids, err = pidDir(f.root + "/").numbers(""); err != nil {
		return nil, nil, fmt.Errorf("reading the process table: %w", err)
	}
	return pids, func(i int) string {
		path, _, _ := f.at(pids[i]).target("exe")
		return path
	}, nil
}
