package fsread

import (
	"context"
	"iter"
)

// FilterParallel yields the items that keep returns true for, in any order. It calls keep as [ReadParallel] calls its function.
func FilterParallel[T any](ctx context.Context, items []T, keep func(T, *Buffers) bool) iter.Seq[T] {
	return func(yield func(T) bool) {
		kept := ReadParallel(ctx, items, func(item T, s *Buffers, into *T) (bool, error) {
			*into = item
			return keep(item, s), nil
		})
		for item, err := range kept {
			if err == nil && !yield(*item) {
				return
			}
		}
	}
}
