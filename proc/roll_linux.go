package proc

import "fmt"

// rollDue reports whether a call, counted from 1, looks at all.
func rollDue(int) bool { return true }

// roll lists the processes, ascending, and reads the binary of the i-th when it is asked for: "" where that may not be
// read.
func roll() (pids []int, exe func(i int) string, err error) {
	f := &procfs{root: "/proc"}
	if pids, err = pidDir(f.root + "/").numbers(""); err != nil {
		return nil, nil, fmt.Errorf("reading the process table: %w", err)
	}
	return pids, func(i int) string {
		path, _, _ := f.at(pids[i]).target("exe")
		return path
	}, nil
}
