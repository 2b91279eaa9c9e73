// Agentctl tells the truth about coding-agent sessions on a machine.
package main

import (
	"os"
	"runtime"
	"runtime/debug"

	"agentctl/internal/cli"
)

// version is stamped in by the linker: -ldflags "-X main.version=v1.2.3". Without it the build information speaks.
var version string

func main() {
	collectLate()
	os.Exit(cli.Main(os.Args, cli.System(version)))
}

// collectLate puts off the first collection of garbage until the heap has 24 MB instead of 4: nearly every call has ended
// by then. From the first one on it goes on as usual.
func collectLate() {
	const percent = 600 // of the 4 MB that the runtime begins with
	usual := debug.SetGCPercent(percent)
	runtime.AddCleanup(new(*int), func(usual int) { debug.SetGCPercent(usual) }, usual)
}
