//go:build !linux

package proc

import "context"

// schedule says which calls of a Roll list the processes: one of four, as a table costs much.
type schedule struct{}

// due reports whether a call, counted from 1, lists the processes, and whether it asks all of them for their binaries: a table
// has them.
func (schedule) due(call int) (list, all bool) {
	list = call%4 == 1
	return list, list
}

// listBinaries lists the processes, ascending, with their binaries: "" where one is not known. There is no cheaper way than to
// take the table.
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
