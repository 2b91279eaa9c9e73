package storage

import (
	"context"
	"errors"
	"testing"

	"go.uber.org/goleak"
)

func TestReadParallelYieldsEveryItemOnce(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, n := range []int{0, 1, 15, 16, 17, 1000} {
		items := make([]int, n)
		for i := range items {
			items[i] = i
		}
		seen, faults := map[int]int{}, 0
		for v, err := range ReadParallel(t.Context(), items, func(_ context.Context, i int, v *int) (bool, error) {
			if i%10 == 3 {
				return false, errors.New("fault")
			}
			*v += i // it was zero
			return i%10 != 4, nil
		}) {
			if err != nil {
				faults++
				continue
			}
			seen[*v]++
		}
		for i := range n {
			if want := map[bool]int{true: 0, false: 1}[i%10 == 3 || i%10 == 4]; seen[i] != want {
				t.Fatalf("of %d: item %d given %d times, want %d", n, i, seen[i], want)
			}
		}
		if want := (n + 6) / 10; faults != want {
			t.Errorf("of %d: %d faults, want %d", n, faults, want)
		}
	}
}

func TestReadParallelLeavesNoGoroutine(t *testing.T) {
	defer goleak.VerifyNone(t)
	items := make([]int, 1000)
	read := func(context.Context, int, *int) (bool, error) { return true, nil }
	for _, err := range ReadParallel(t.Context(), items, read) {
		if err != nil {
			t.Error(err)
		}
		break
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	for _, err := range ReadParallel(ctx, items, read) {
		if err != nil {
			t.Error(err)
		}
		cancel()
	}
}
