package native

import (
	"context"
	"iter"
	"runtime"
	"sync"
)

// Each applies read to all items on a few goroutines and yields what it returns, in any order: a value where ok, an
// error where there is one. It ends early, with no goroutine left behind, when the consumer stops or ctx ends.
func Each[T, R any](ctx context.Context, items []T, read func(T) (value R, ok bool, err error)) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		type result struct {
			value R
			err   error
		}
		ctx, cancel := context.WithCancel(ctx)
		work, results := make(chan []T), make(chan []result, 8)
		var wg sync.WaitGroup
		defer wg.Wait()
		defer cancel()
		// Several files a hand-over: passing them one by one would cost more than reading them.
		const batch = 16
		pending := (len(items) + batch - 1) / batch
		workers := min(2*runtime.GOMAXPROCS(0), 16, pending)
		for range workers {
			wg.Go(func() {
				for part := range work {
					out := make([]result, 0, len(part))
					for _, item := range part {
						if ctx.Err() != nil {
							return
						}
						v, ok, err := read(item)
						if ok || err != nil {
							out = append(out, result{v, err})
						}
					}
					select {
					case results <- out:
					case <-ctx.Done():
						return
					}
				}
			})
		}
		wg.Go(func() {
			defer close(work)
			for len(items) > 0 {
				n := min(batch, len(items))
				select {
				case work <- items[:n]:
					items = items[n:]
				case <-ctx.Done():
					return
				}
			}
		})
		for ; pending > 0; pending-- {
			select {
			case out := <-results:
				for _, r := range out {
					if !yield(r.value, r.err) {
						return
					}
				}
			case <-ctx.Done():
				return
			}
		}
	}
}
