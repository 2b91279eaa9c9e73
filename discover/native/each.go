package native

import (
	"context"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
)

// Each applies read to all items on a few goroutines and yields what it returns, in any order: a value where ok, an
// error where there is one. It ends early, with no goroutine left behind, when the consumer stops or ctx ends.
func Each[T, R any](ctx context.Context, items []T, read func(T) (value R, ok bool, err error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		e := each[T, R]{items: items, read: read, free: make(chan []result[R], maxReaders+1)}
		results := make(chan []result[R])
		ctx, cancel := context.WithCancel(ctx)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		parts := (len(items) + part - 1) / part
		for range min(2*runtime.GOMAXPROCS(0), maxReaders, parts) {
			wg.Go(func() { e.work(ctx, results) })
		}
		for range parts {
			select {
			case out := <-results:
				for i := range out {
					if !yield(out[i].value, out[i].err) {
						return
					}
				}
				e.free <- out
			case <-ctx.Done():
				return
			}
		}
	}
}

const (
	// part is how many items are handed over at once: passing them one by one would cost more than reading them.
	part = 16
	// maxReaders is the most goroutines that read.
	maxReaders = 16
)

// each is one call of Each.
type each[T, R any] struct {
	items []T
	read  func(T) (R, bool, error)
	next  atomic.Int64     // the first item that nobody has taken
	free  chan []result[R] // room for more; there is no more of it than one for each reader and one for the consumer
}

type result[R any] struct {
	value R
	err   error
}

// work reads parts of the items until there are no more, and sends what each part gave.
func (e *each[T, R]) work(ctx context.Context, results chan<- []result[R]) {
	for {
		to := int(e.next.Add(part))
		if to-part >= len(e.items) {
			return
		}
		out := e.room()
		for _, item := range e.items[to-part : min(to, len(e.items))] {
			if ctx.Err() != nil {
				return
			}
			if v, ok, err := e.read(item); ok || err != nil {
				out = append(out, result[R]{v, err})
			}
		}
		select {
		case results <- out:
		case <-ctx.Done():
			return
		}
	}
}

// room is memory for the results of a part. It goes round, so that thousands of large ones leave no garbage.
func (e *each[T, R]) room() []result[R] {
	select {
	case out := <-e.free:
		return out[:0]
	default:
		return make([]result[R], 0, part)
	}
}
