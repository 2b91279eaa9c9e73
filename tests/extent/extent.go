// Package extent says how much the tests do, by variables that tests/run sets. A test that is run by hand does what -real asks for.
package extent

import "os"

// All reports whether all is asked for (tests/run -all): the older releases of the agents, each moment of a kill, every target.
func All() bool { return os.Getenv("AGENTCTL_TEST_ALL") != "" }

// Hermetic reports whether nothing may be used but Go, git and bash (tests/run without -real): programs that come from Debian or npm are
// missing then, and tests that need one are skipped.
func Hermetic() bool { return os.Getenv("AGENTCTL_TEST_HERMETIC") != "" }
