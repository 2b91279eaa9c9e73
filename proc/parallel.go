package proc

import (
	"runtime"

	"golang.org/x/sync/errgroup"
)

// parallel calls work for each index below n, on all processors: a live list among 500 processes is half as long.
func parallel(n int, work func(i int)) {
	var group errgroup.Group
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		group.Go(func() error {
			for i := w; i < n; i += workers {
				work(i)
			}
			return nil
		})
	}
	_ = group.Wait() // no work fails
}
