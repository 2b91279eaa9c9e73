// Package isolate gives a program a process table of its own: it runs itself again as the first process of a new pid
// namespace, where agents that happen to run on the machine are not seen. Whatever it starts there ends with it.
package isolate

import (
	"fmt"
	"os"
)

// stage is set in the environment of the program that the package started.
const stage = "AGENTCTL_TEST_ISOLATED"

// Enter is called first thing in main or TestMain. It runs the whole program again inside; the caller ends with the
// code it got if ran is true, and goes on with its work otherwise: it is inside, or the system allows no namespace,
// which is said on stderr.
func Enter() (code int, ran bool) {
	if Inside() {
		if err := mountProc(); err != nil {
			fmt.Fprintln(os.Stderr, "isolate: showing the new process table at /proc:", err)
			return 1, true
		}
		return 0, false
	}
	code, err := rerun()
	if err != nil {
		fmt.Fprintf(os.Stderr, "isolate: no pid namespace (%v); agents that run on this machine are seen\n", err)
		return 0, false
	}
	return code, true
}

// Inside reports whether the process table is this program's own.
func Inside() bool { return os.Getenv(stage) != "" }
