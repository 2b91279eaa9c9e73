package realagents

import (
	"context"
	"flag"
	"fmt"
	"os"
	"testing"

	"agentctl/tests/debian"
	"agentctl/tests/extent"
	"agentctl/tests/realagents/install"
	"agentctl/tests/sandbox"
	"agentctl/tests/support/facts"
)

// TestMain installs the agents and tmux, builds the program while there is a network, and runs the tests where there is none,
// and no agent but theirs: each test in a sandbox of its own, several at a time, unless some are asked for by name.
func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(run(m))
}

// newestOnly is the variable by which tests/demo asks for the newest release of each agent and no other.
const newestOnly = "AGENTCTL_TEST_NEWEST"

// needed are the releases that this run installs.
func needed() []install.Release {
	switch asked := os.Getenv(facts.ReleaseVariable); {
	case asked != "":
		return []install.Release{install.ParseRelease(asked)}
	case os.Getenv(newestOnly) != "":
		return install.Newest()
	}
	releases := install.Newest()
	if extent.All() {
		releases = install.Releases()
	}
	return append(releases, install.CodexACP())
}

func run(m *testing.M) int {
	if !sandbox.Inside() && os.Getenv(binary) == "" {
		for _, r := range needed() {
			if err := install.Ensure(context.Background(), r); err != nil {
				fmt.Fprintln(os.Stderr, err)
			}
		}
		if _, err := debian.Ensure(context.Background(), debian.Tmux()); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		dir, err := os.MkdirTemp("", "agentctl-binary-")
		if err == nil {
			defer os.RemoveAll(dir)
			err = build(dir)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		if asked := flag.Lookup("test.run").Value.String() + flag.Lookup("test.list").Value.String(); asked == "" {
			return apart()
		}
	}
	if code, ran := sandbox.Enter(sandbox.Processes | sandbox.Network); ran {
		return code
	}
	return m.Run()
}
