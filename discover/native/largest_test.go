package native

import (
	"slices"
	"testing"
)

func TestLargestFirst(t *testing.T) {
	self := func(i int64) int64 { return i }
	for _, n := range []int{0, 1, 15, 16, 17, 1000} {
		for _, every := range []int{0, 1, 7, 50} {
			items, large := make([]int64, n), 0
			for i := range items {
				if items[i] = int64(n - i); every > 0 && i%every == every-1 {
					items[i] = largeItem + int64(i)
					large++
				}
			}
			before := slices.Clone(items)
			got := LargestFirst(items, self)
			if !slices.Equal(items, before) {
				t.Fatal("the items were changed")
			}
			if !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(items))) {
				t.Fatalf("%d items, each %dth large: %v", n, every, got)
			}
			small := func(i int64) bool { return i < largeItem }
			if order := slices.DeleteFunc(slices.Clone(got), small); !slices.IsSortedFunc(order, func(a, b int64) int { return int(b - a) }) {
				t.Errorf("%d items: the large ones are %v", n, order)
			}
			for i := range min(large, (n-large)/(usualPart-1)) {
				if small(got[i*usualPart]) {
					t.Errorf("%d items, each %dth large: part %d begins with a small one", n, every, i)
				}
			}
		}
	}
}
