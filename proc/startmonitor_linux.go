package proc

import (
	"bytes"
	"fmt"
	"strconv"
)

// schedule says which calls of a Roll list the processes.
type schedule struct {
	newest    int // the pid that was assigned last at the call before
	listUntil int // the call after which all processes that have begun run their own program
}

// fullListEvery is in how many calls all processes are listed and asked once, whatever is seen to change.
const fullListEvery = 8

// due reports whether a call, counted from 1, lists the processes, and whether it asks all of them for their binaries. While the system has
// assigned no pid, none has begun: that saves the listing, which is most of what a call costs.
func (p *schedule) due(call int) (list, all bool) {
	all = call%fullListEvery == 0
	newest := newestPID()
	if newest == 0 || newest != p.newest {
		p.newest, p.listUntil = newest, call+newCalls
	}
	return all || call <= p.listUntil, all
}

// newestPID is the pid that the system has assigned last, to a process or a thread; 0 where it does not say. It is the last
// field of /proc/loadavg (Linux, proc_loadavg(5)), in the reader's pid namespace.
func newestPID() int {
	raw, err := readOptional(systemRoot, "loadavg")
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

// listBinaries lists the processes, ascending, and reads the binary of the i-th when it is asked for: "" where that may not be
// read.
func listBinaries() (pids []int, exe func(i int) string, err error) {
	f := &procfs{root: systemRoot}
	if pids, err = pidDir(f.root + "/").listNumbers(""); err != nil {
		return nil, nil, fmt.Errorf("reading the process table: %w", err)
	}
	return pids, func(i int) string {
		path, _, _ := f.pid(pids[i]).readTarget("exe")
		return path
	}, nil
}
