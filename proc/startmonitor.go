package proc

// StartMonitor notices processes that start and processes that execute another program. A call costs little, however many
// processes there are. The zero StartMonitor knows no process. It is for one goroutine.
type StartMonitor struct {
	known    []knownProcess // ascending by pid
	calls    int
	schedule schedule
}

// knownProcess is a process as of the last call.
type knownProcess struct {
	pid       int
	exe       string // "" where it may not be read; soon it is not read again
	firstSeen int    // the call that first listed it
}

// newCalls is the number of calls for which a process counts as new: its binary is read at each of them, since most
// processes that execute another program do so soon after their start.
const newCalls = 8

// Poll returns the binaries of the processes that have started since the last call, and of those that have executed
// another program. For a process that is not new, the latter is noticed some calls late. The first call returns the
// binaries of all processes. Binaries that may not be read are left out. Poll fails if the process table cannot be read.
func (m *StartMonitor) Poll() (started []string, err error) {
	m.calls++
	list, all := m.schedule.due(m.calls)
	if !list {
		return nil, nil
	}
	pids, exe, err := listBinaries()
	if err != nil {
		return nil, err
	}
	before, now := m.known, make([]knownProcess, 0, len(pids))
	for i, pid := range pids {
		for len(before) > 0 && before[0].pid < pid {
			before = before[1:]
		}
		p := knownProcess{pid: pid, firstSeen: m.calls}
		if len(before) > 0 && before[0].pid == pid {
			p = before[0]
		}
		if m.calls-p.firstSeen < newCalls || all && p.exe != "" {
			if path := exe(i); path != "" && path != p.exe {
				p.exe = path
				started = append(started, path)
			}
		}
		now = append(now, p)
	}
	m.known = now
	return started, nil
}
