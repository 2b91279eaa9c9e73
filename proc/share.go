package proc

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// bufferSize is what a worker of [share] has to work in: room for a line of /proc/PID/stat, 52 numbers and a name.
const bufferSize = 2048

// share runs work(i) for every i < n on the available cores, each with a buffer of its own.
func share(n int, work func(i int, buf []byte)) {
	const batch = 32 // enough that starting a core's share costs little beside it
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), n/batch+1) {
		wg.Go(func() {
			buf := make([]byte, bufferSize)
			for from := int(next.Add(batch)) - batch; from < n; from = int(next.Add(batch)) - batch {
				for i := from; i < min(from+batch, n); i++ {
					work(i, buf)
				}
			}
		})
	}
	wg.Wait()
}
