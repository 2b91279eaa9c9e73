package fsread

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// ReadFunc reads one item into a zero value, and reports whether there is a value. ctx is that of its goroutine.
type ReadFunc[T, R any] func(ctx context.Context, item T, into *R) (ok bool, err error)

// ReadParallel calls read for all items on a few goroutines, and yields the results in any order: a value if ok, an error if there is
// one. It ends early, leaving no goroutine, when the consumer stops or ctx ends.
func ReadParallel[T, R any](ctx context.Context, items []T, read ReadFunc[T, R]) iter.Seq2[*R, error] {
	type result struct {
		value *R
		err   error
	}
	return func(yield func(*R, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		results, large := make(chan result, waitingResults), make(chan struct{}, 1)
		var next atomic.Int64 // the first item that no reader has taken
		var readers sync.WaitGroup
		defer readers.Wait()
		defer cancel()
		for range min(2*runtime.GOMAXPROCS(0), len(items)) {
			readers.Go(func() {
				ctx := context.WithValue(ctx, readerKey{}, &reader{large: large})
				for ctx.Err() == nil {
					at := next.Add(1) - 1
					if at >= int64(len(items)) {
						return
					}
					r := result{value: new(R)}
					ok, err := read(ctx, items[at], r.value)
					if r.err = err; !ok && err == nil {
						continue
					}
					select {
					case results <- r:
					case <-ctx.Done():
					}
				}
			})
		}
		go func() {
			readers.Wait()
			close(results)
		}()
		for r := range results {
			if !yield(r.value, r.err) {
				return
			}
		}
	}
}

// waitingResults is how many results may wait for the consumer.
const waitingResults = 64

// FilterParallel returns those of some items that keep returns true for, in any order. It calls keep on a few goroutines. Once ctx ends
// it returns what it has.
func FilterParallel[T any](ctx context.Context, items []T, keep func(context.Context, T) bool) (kept []T) {
	for item, err := range ReadParallel(ctx, items, func(ctx context.Context, item T, into *T) (bool, error) {
		*into = item
		return keep(ctx, item), nil
	}) {
		if err == nil { // keep has none
			kept = append(kept, *item)
		}
	}
	return kept
}
