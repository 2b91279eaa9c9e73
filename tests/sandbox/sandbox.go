// Package sandbox gives a test program a small machine of its own: a process table in which it sees only what it
// started, and, where asked, a network that has loopback and nothing else. Whatever it leaves behind there ends with it.
//
// The program runs itself again, as root in new namespaces, otherwise in a user namespace around them, in which the
// user stays who they are. Three processes of the same program stand one below the other:
//
//   - the one that was started waits outside of the namespaces, and passes signals on;
//   - the first one inside sets the namespaces up, gives away the rights that this took, and from then on collects
//     processes that have lost their parents, as the first process of a machine does;
//   - its child does the program's work. It waits for its own children only, and nobody else does.
package sandbox

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Set is what a program is to have for itself alone.
type Set uint

const (
	// Processes is a process table (Linux: a pid namespace, and its own /proc).
	Processes Set = 1 << iota
	// Network is a network with loopback only (Linux: a network namespace).
	Network
)

func (s Set) String() string {
	switch s {
	case Processes:
		return "process table"
	case Network:
		return "network"
	default:
		return "process table and network"
	}
}

// attempts are the sets to try: all that is wanted, then each part alone. Without a network of its own a program could
// do harm; without a process table it only sees too much.
func (s Set) attempts() []Set {
	if s == Processes|Network {
		return []Set{s, Network, Processes}
	}
	return []Set{s}
}

// variable holds, in the environment of all but the outermost process, the stage it has reached and the set it got:
// "init:3".
const variable = "AGENTCTL_TEST_SANDBOX"

// Nested is the environment of a program that is to enter a sandbox of its own below this one.
func Nested(env []string) []string { return append(slices.Clone(env), variable+"=") }

// The stages of a process in the sandbox. Outside there is none.
const (
	stageSetup = "setup" // in the namespaces, which are not ready
	stageInit  = "init"  // collects orphans
	stageDone  = "done"  // does the program's work
)

// where is the stage of this process and the set it got; "" and 0 outside.
func where() (stage string, got Set) {
	stage, set, _ := strings.Cut(os.Getenv(variable), ":")
	n, _ := strconv.Atoi(set)
	return stage, Set(n)
}

// setupFailed is the exit code of a process that got its namespaces but could not set them up.
const setupFailed = 86

// Enter is called first thing in main or TestMain. It runs the whole program again inside of the sandbox; the caller
// ends with the code it got if ran is true (1 if a signal ended the program), and goes on with its work otherwise: it
// is inside, or the system refuses. What the system refuses is said on stderr, and the rest is done without it.
func Enter(want Set) (code int, ran bool) {
	switch stage, got := where(); stage {
	case stageDone:
		return 0, false
	case stageInit:
		return serve(got), true
	case stageSetup:
		err := setup(got) // does not return when it works
		fmt.Fprintf(os.Stderr, "sandbox: setting up a private %s: %v\n", got, err)
		return setupFailed, true
	}
	for _, set := range want.attempts() {
		code, err := rerun(set)
		if err == nil {
			return code, true
		}
		fmt.Fprintf(os.Stderr, "sandbox: no private %s here: %v\n", set, err)
	}
	fmt.Fprintf(os.Stderr, "sandbox: going on with the machine's own %s\n", want)
	return 0, false
}

// Inside reports whether this process was started in the sandbox, with at least a part of what was wanted.
func Inside() bool {
	stage, _ := where()
	return stage != ""
}
