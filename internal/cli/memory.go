package cli

import (
	"runtime"
	"runtime/debug"
)

// collectLate puts off the first collection of garbage until the heap has 64 MB instead of 4: ten thousand
// sessions take no more. From the first one on it goes on as usual. Without it list -a of 10,000 sessions takes 13 % longer.
func collectLate() {
	const percent = 1600 // of the 4 MB that the runtime begins with
	usual := debug.SetGCPercent(percent)
	runtime.AddCleanup(new(*int), func(usual int) { debug.SetGCPercent(usual) }, usual)
}
