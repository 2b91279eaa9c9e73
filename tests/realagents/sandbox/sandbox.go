// Package sandbox keeps a program and all it starts off the network: it runs itself again in a network namespace
// that has loopback and nothing else.
//
// As root it takes a network namespace; otherwise a user namespace around it, in which the user stays who they are.
package sandbox

import (
	"fmt"
	"os"
)

// stage tells a process that the package started it, and what is left to do.
const stage = "AGENTCTL_TEST_SANDBOX"

const (
	stageSetup = "setup" // in the namespace; loopback is down
	stageDone  = "done"
)

// setupFailed is the exit code of a process that got its namespace but could not bring loopback up.
const setupFailed = 86

// Enter is called first thing in main or TestMain. It runs the whole program again inside of the sandbox; the
// caller ends with the code it got if ran is true, and goes on with its work otherwise: it is inside, or the
// system does not allow a sandbox, which is said on stderr.
func Enter() (code int, ran bool) {
	switch os.Getenv(stage) {
	case stageDone:
		return 0, false
	case stageSetup:
		err := setup() // does not return when it works
		fmt.Fprintln(os.Stderr, "sandbox: setting up loopback:", err)
		return setupFailed, true
	}
	code, err := rerun()
	if err != nil {
		fmt.Fprintf(os.Stderr, "sandbox: no network namespace (%v); going on with the machine's own network\n", err)
		return 0, false
	}
	return code, true
}

// Inside reports whether this process was started in the sandbox, so that what needs the network is done already.
func Inside() bool { return os.Getenv(stage) != "" }
