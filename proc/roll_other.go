//go:build !linux

package proc

import "context"

// due reports whether this call lists the processes: one of four does, as a table costs much. It has all binaries.
func (r *Roll) due() (list, all bool) {
	list = r.calls%4 == 1
	return list, list
}

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
