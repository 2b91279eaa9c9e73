package fsread

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// ReadFunc reads one item with the buffers s into a zero value, and reports whether there is a value.
type ReadFunc[T, R any] func(item T, s *Buffers, into *R) (ok bool, err error)

// ReadParallel calls read for all items on a few goroutines, each with its own buffers, and yields the results in any
// order: a value if ok, an error if there is one. A value is valid until the loop goes on: its memory is reused, since
// records are large. ReadParallel ends early, leaving no goroutine, when the consumer stops or ctx ends.
func ReadParallel[T, R any](ctx context.Context, items []T, read ReadFunc[T, R]) iter.Seq2[*R, error] {
	return func(yield func(*R, error) bool) {
		workers := min(2*runtime.GOMAXPROCS(0), maxReaders, (len(items)+batchSize-1)/batchSize)
		e := parallelRead[T, R]{items: items, read: read, large: newLargeMemory(), results: make(chan []result[R]), spare: make(chan []result[R], workers+1)}
		ctx, cancel := context.WithCancel(ctx)
		var readers, all sync.WaitGroup
		defer all.Wait()
		defer cancel()
		for range workers {
			readers.Go(func() { e.work(ctx) })
		}
		all.Go(func() {
			readers.Wait()
			close(e.results)
		})
		for out := range e.results {
			for i := range out {
				if !yield(&out[i].value, out[i].err) {
					return
				}
			}
			e.spare <- out
		}
	}
}

const (
	// batchSize is how many items are handed over at once: passing them one by one would cost more than reading them.
	batchSize = 16
	// maxReaders is the most goroutines that read.
	maxReaders = 16
)

// parallelRead is one call of [ReadParallel].
type parallelRead[T, R any] struct {
	items   []T
	read    ReadFunc[T, R]
	large   *largeMemory
	next    atomic.Int64 // the first item that no worker has taken
	results chan []result[R]
	spare   chan []result[R] // memory for results: at most one batch for each worker and one for the consumer
}

type result[R any] struct {
	value R
	err   error
}

// work reads batches of items until none is left, and sends the results.
func (e *parallelRead[T, R]) work(ctx context.Context) {
	var out []result[R]
	buffers := Buffers{ctx: ctx, large: e.large}
	for {
		to := int(e.next.Add(batchSize))
		if to-batchSize >= len(e.items) {
			e.send(ctx, out)
			return
		}
		for _, item := range e.items[to-batchSize : min(to, len(e.items))] {
			if ctx.Err() != nil {
				return
			}
			if out == nil {
				out = e.newBatch()
			}
			last := len(out)
			out = append(out, result[R]{})
			ok, err := e.read(item, &buffers, &out[last].value)
			if out[last].err = err; !ok && err == nil {
				out = out[:last]
			}
		}
		if len(out) > batchSize/2 {
			e.send(ctx, out)
			out = nil
		}
	}
}

func (e *parallelRead[T, R]) send(ctx context.Context, out []result[R]) {
	if len(out) == 0 {
		return
	}
	select {
	case e.results <- out:
	case <-ctx.Done():
	}
}

// newBatch returns memory for the results of a batch. It is reused, so that thousands of large results leave no garbage.
func (e *parallelRead[T, R]) newBatch() []result[R] {
	select {
	case out := <-e.spare:
		return out[:0]
	default:
		return make([]result[R], 0, batchSize+batchSize/2)
	}
}
