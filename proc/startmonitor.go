package proc

// StartMonitor notices processes that begin and processes that become another program, at little cost, however many there are. The
// zero StartMonitor knows no process. It is for one goroutine.
type StartMonitor struct {
	known    []knownProcess // ascending by pid
	calls    int
	schedule schedule
}

// knownProcess is a process that was there.
type knownProcess struct {
	pid       int
	exe       string // "" where it may not be read: then it is soon not asked for any more
	firstSeen int    // the call that it was first there at
}

// newCalls is for how many calls a process is asked for its binary each time: what begins another program mostly does so
// soon.
const newCalls = 8

// Poll returns the binaries of the processes that have come since the last call, and of those that have become another
// program; of a process that has been there for long, the latter is noticed some calls late. At the first call all are
// new. Binaries that may not be read are left out. It fails if there is no process table to read.
func (r *StartMonitor) Poll() (fresh []string, err error) {
	r.calls++
	list, all := r.schedule.due(r.calls)
	if !list {
		return nil, nil
	}
	pids, exe, err := listBinaries()
	if err != nil {
		return nil, err
	}
	before, now := r.known, make([]knownProcess, 0, len(pids))
	for i, pid := range pids {
		for len(before) > 0 && before[0].pid < pid {
			before = before[1:]
		}
		p := knownProcess{pid: pid, firstSeen: r.calls}
		if len(before) > 0 && before[0].pid == pid {
			p = before[0]
		}
		if r.calls-p.firstSeen < newCalls || all && p.exe != "" {
			if path := exe(i); path != "" && path != p.exe {
				p.exe = path
				fresh = append(fresh, path)
			}
		}
		now = append(now, p)
	}
	r.known = now
	return fresh, nil
}
