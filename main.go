// Agentctl tells the truth about coding-agent sessions on a machine.
package main

import (
	"os"
	"runtime/debug"

	"agentctl/internal/cli"
)

// version is stamped in by the linker: -ldflags "-X main.version=v1.2.3". Without it the build information speaks.
var version string

// memoryLimit is what the runtime may take, in bytes, before it collects garbage however much time that takes. What is
// needed at one time is less, whatever the stores hold; with what the system counts besides, the program stays below 300 MB.
const memoryLimit = 192 << 20

// gcPercent is how much garbage may be made before it is collected, in percent of what is in use. With the usual 100, `list -a` takes 10 % longer.
const gcPercent = 200

func main() {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(memoryLimit)
	}
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	os.Exit(cli.Main(os.Args, cli.NewEnv(version)))
}
