//go:build !linux

package proc

import "context"

// rollDue reports whether a call, counted from 1, looks at all: a table is dear.
func rollDue(call int) bool { return call%4 == 1 }

// roll lists the processes, ascending, with their binaries: "" where one is not known. There is no cheaper way than to
// take the table.
func roll() (pids []int, exe func(i int) string, err error) {
	table, err := Take(context.Background())
	if err != nil {
		return nil, nil, err
	}
	var paths []string
	for p := range table.All() {
		pids, paths = append(pids, p.ID.PID), append(paths, p.Exe)
	}
	return pids, func(i int) string { return paths[i] }, nil
}
