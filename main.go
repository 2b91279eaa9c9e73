// Agentctl tells the truth about coding-agent sessions on a machine.
package main

import (
	"os"

	"agentctl/internal/cli"
)

// version is stamped in by the linker: -ldflags "-X main.version=v1.2.3". Without it the build information speaks.
var version string

func main() {
	os.Exit(cli.Main(os.Args, cli.System(version)))
}
