package list

import (
	"runtime"
	"runtime/debug"
	"testing"
)

// The first collection comes late, the others as usual.
func TestDelayCollection(t *testing.T) {
	const usual = 70
	before := debug.SetGCPercent(usual)
	defer debug.SetGCPercent(before)
	runtime.GC() // so that the next one is far away
	delayCollection()
	if late := debug.SetGCPercent(usual * 10); late <= 2*usual {
		t.Fatalf("it begins at %d %%", late)
	}
	// Then the runtime tells, when it gets to it. What the tests before have put off is told at the same time, and may
	// drown it out: so it is put off again.
	for percent := 0; percent != usual; percent = debug.SetGCPercent(usual * 10) {
		debug.SetGCPercent(usual)
		delayCollection()
		runtime.GC()
	}
}
