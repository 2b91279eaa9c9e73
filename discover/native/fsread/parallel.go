package fsread

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// ReadFunc reads one item in s into a value that is zero so far, and says whether there is one, and what went wrong.
type ReadFunc[T, R any] func(item T, s *Buffers, into *R) (ok bool, err error)

// ReadParallel applies read to all items on a few goroutines, each with memory of its own to work in, and yields what it gave, in any
// order: a value where ok, an error where there is one. A value is read, handed over and given out in one place, which is used
// again for the next: records are large. It ends early, with no goroutine left behind, when the consumer stops or ctx ends.
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

// parallelRead is one call of Each.
type parallelRead[T, R any] struct {
	items   []T
	read    ReadFunc[T, R]
	large   *largeMemory
	next    atomic.Int64 // the first item that nobody has taken
	results chan []result[R]
	spare   chan []result[R] // room for more results; there is no more of it than one for each reader and one for the consumer
}

type result[R any] struct {
	value R
	err   error
}

// work reads parts of the items until there are no more, and sends what they gave.
func (e *parallelRead[T, R]) work(ctx context.Context) {
	var out []result[R]
	scratch := Buffers{ctx: ctx, large: e.large}
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
			ok, err := e.read(item, &scratch, &out[last].value)
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

// newBatch is memory for the results of a part. It goes round, so that thousands of large ones leave no garbage.
func (e *parallelRead[T, R]) newBatch() []result[R] {
	select {
	case out := <-e.spare:
		return out[:0]
	default:
		return make([]result[R], 0, batchSize+batchSize/2)
	}
}
