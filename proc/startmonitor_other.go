//go:build !linux

package proc

import "context"

// schedule decides which calls of [StartMonitor.Poll] list the processes: one in four, since reading a table is
// expensive.
type schedule struct{}

// due reports whether a call, counted from 1, lists the processes, and whether it reads the binaries of all of them,
// which a table has.
func (schedule) due(call int) (list, all bool) {
	list = call%4 == 1
	return list, list
}

// listBinaries lists the pids, ascending, with their binaries, "" if unknown. Nothing is cheaper than reading the whole
// table.
func listBinaries() (pids []int, exe func(i int) string, err error) {
	table, err := ReadTable(context.Background())
	if err != nil {
		return nil, nil, err
	}
	var paths []string
	for p := range table.All() {
		pids, paths = append(pids, p.ID.PID), append(paths, p.Exe)
	}
	return pids, func(i int) string { return paths[i] }, nil
}
