package native

import (
	"cmp"
	"slices"
)

// largeItem is the size in bytes from which it matters when an item is begun: others are read in a moment.
const largeItem = 4 << 20

// LargestFirst gives the items in an order in which [Each] is done with them sooner: the large ones are begun first, each by
// another reader, so that nobody is left at the end with one that was begun late. All others stay in their order.
func LargestFirst[T any](items []T, size func(T) int64) []T {
	isLarge := func(i T) bool { return size(i) >= largeItem }
	if !slices.ContainsFunc(items, isLarge) {
		return items
	}
	var large, rest []T
	for _, i := range items {
		if isLarge(i) {
			large = append(large, i)
		} else {
			rest = append(rest, i)
		}
	}
	slices.SortStableFunc(large, func(a, b T) int { return cmp.Compare(size(b), size(a)) })
	ordered := make([]T, 0, len(items))
	for _, l := range large { // each begins a part, as long as there are others to fill it
		n := min(usualPart-1, len(rest))
		ordered = append(append(ordered, l), rest[:n]...)
		rest = rest[n:]
	}
	return append(ordered, rest...)
}
