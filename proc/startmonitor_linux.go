package proc

import (
	"bytes"
	"fmt"
	"strconv"
)

// schedule decides which calls of [StartMonitor.Poll] list the processes.
type schedule struct {
	newest    int // the newest pid at the call before
	listUntil int // the last call at which a process counts as new
}

// fullListEvery is the number of calls after which one lists all processes and reads all binaries, in any case.
const fullListEvery = 8

// due reports whether a call, counted from 1, lists the processes, and whether it reads the binaries of all of them. As
// long as the system has assigned no pid, no process has started: that saves the listing, which is most of the cost of a
// call.
func (p *schedule) due(call int) (list, all bool) {
	all = call%fullListEvery == 0
	newest := newestPID()
	if newest == 0 || newest != p.newest {
		p.newest, p.listUntil = newest, call+newCalls
	}
	return all || call <= p.listUntil, all
}

// newestPID returns the pid that the system assigned last, to a process or a thread; 0 if unknown. It is the last field
// of /proc/loadavg (proc_loadavg(5)), in the reader's pid namespace.
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

// listBinaries lists the pids, ascending. exe reads the binary of the i-th; it is "" where that may not be read.
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
