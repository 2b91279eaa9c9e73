package realagents

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"agentctl/tests/realagents/install"
	"agentctl/tests/realagents/sandbox"
)

// TestMain installs the agents while there is a network, and runs the tests where there is none.
func TestMain(m *testing.M) {
	flag.Parse()
	if !sandbox.Inside() && !testing.Short() {
		for _, r := range install.Releases() {
			if err := install.Ensure(context.Background(), r); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
	}
	if code, ran := sandbox.Enter(); ran {
		os.Exit(code)
	}
	m.Run()
}
