package proc

// StartMonitor notices processes that start and processes that execute another program. The zero StartMonitor knows no
// process. It is for one goroutine.
type StartMonitor struct {
	known map[int]knownProcess
	calls int
}

// knownProcess is a process as of the last call.
type knownProcess struct {
	exe       string
	firstSeen int // the call that first listed it
}

// newCalls is for how many calls a process counts as new: most processes that execute another program do so soon after their start.
// Every so many calls, the binaries of all processes are read.
const newCalls = 8

// Poll returns the binaries of the processes that have started since the last call, and of those that have executed another
// program. For a process that is not new, the latter is noticed some calls late. The first call returns the binaries of all
// processes. Binaries that may not be read are left out. Poll fails if the process table cannot be read.
func (m *StartMonitor) Poll() (started []string, err error) {
	pids, binary, err := listPIDs()
	if err != nil {
		return nil, err
	}
	m.calls++
	now := make(map[int]knownProcess, len(pids))
	for _, pid := range pids {
		p, known := m.known[pid]
		if !known {
			p.firstSeen = m.calls
		}
		if m.calls-p.firstSeen < newCalls || m.calls%newCalls == 0 {
			if exe := binary(pid); exe != "" && exe != p.exe {
				p.exe = exe
				started = append(started, exe)
			}
		}
		now[pid] = p
	}
	m.known = now
	return started, nil
}
