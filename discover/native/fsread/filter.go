package fsread

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
)

// FilterParallel returns a function that returns those of some items that keep returns true for, in any order. It calls keep on a few
// goroutines, each with its own buffers, which the next call of the function uses again. It must not be called concurrently.
// Once ctx ends it returns what it has.
func FilterParallel[T any](ctx context.Context, keep func(T, *Buffers) bool) func(items []T) []T {
	buffers := make([]Buffers, min(2*runtime.GOMAXPROCS(0), maxReaders))
	large := newLargeMemory()
	for i := range buffers {
		buffers[i] = Buffers{ctx: ctx, large: large}
	}
	return func(items []T) []T {
		kept := make([][]T, len(buffers))
		var next atomic.Int64 // the first item that no goroutine has taken
		var workers sync.WaitGroup
		for i := range buffers {
			workers.Go(func() {
				for ctx.Err() == nil {
					at := next.Add(1) - 1
					if at >= int64(len(items)) {
						return
					}
					if keep(items[at], &buffers[i]) {
						kept[i] = append(kept[i], items[at])
					}
				}
			})
		}
		workers.Wait()
		return slices.Concat(kept...)
	}
}
