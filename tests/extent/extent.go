// Package extent says how much the tests do: what a change needs within twenty minutes, or all that is done before a release.
package extent

import "os"

// variable is what tests/run -all sets.
const variable = "AGENTCTL_TEST_ALL"

// All reports whether all is asked for: the older releases of the agents, each moment of a kill, every target.
func All() bool { return os.Getenv(variable) != "" }
