package shells

import (
	"os"
	"path/filepath"
	"testing"

	"agentctl/internal/cli"
	"agentctl/tests/sandbox"
)

// TestMain makes the test binary the program as well: under the name agentctl it is. The only agents to be seen are the tests' own:
// there are none.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "agentctl" {
		os.Exit(cli.Main(os.Args, cli.NewEnv("v0.0.0-test")))
	}
	if code, ran := sandbox.Enter(sandbox.Processes); ran {
		os.Exit(code)
	}
	os.Exit(m.Run())
}
