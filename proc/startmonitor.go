package proc

// StartMonitor notices processes that start and processes that execute another program. The zero StartMonitor knows no
// process. It is for one goroutine.
type StartMonitor struct{ known map[int]string }

// Poll returns the binaries of the processes that have started since the last call, and of those that have executed another
// program. The first call returns the binaries of all processes. Binaries that may not be read are left out. Poll fails if
// the process table cannot be read.
func (m *StartMonitor) Poll() (started []string, err error) {
	now, err := listBinaries()
	if err != nil {
		return nil, err
	}
	for pid, exe := range now {
		if exe != m.known[pid] && exe != "" {
			started = append(started, exe)
		}
	}
	m.known = now
	return started, nil
}
