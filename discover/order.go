package discover

import (
	"cmp"
	"runtime"
	"slices"
	"sync"
)

// Compare orders sessions for people: live ones first, then by newest activity; what is left is ordered by name so
// that two looks at the same world give the same list.
func Compare(a, b Session) int {
	if a.Status.Live() != b.Status.Live() {
		return map[bool]int{true: -1, false: 1}[a.Status.Live()]
	}
	return cmp.Or(
		b.Activity().Compare(a.Activity()),
		cmp.Compare(a.Agent, b.Agent), cmp.Compare(a.ID, b.ID), cmp.Compare(a.Path, b.Path), cmp.Compare(a.pid(), b.pid()),
	)
}

// sorted brings sessions into the order of [Compare], where they are: live ones first, which are few, then what has stopped.
func sorted(list []Session) []Session {
	live := 0
	for i := range list {
		if list[i].Status.Live() {
			list[live], list[i] = list[i], list[live]
			live++
		}
	}
	for _, part := range [][]Session{list[:live], list[live:]} {
		move(part, newestFirst(len(part),
			func(i int) int64 { return part[i].Activity().UnixMilli() },
			func(a, b int) int { return Compare(part[a], part[b]) },
		))
	}
	return list
}

// newestFirst orders n things by their times in milliseconds, which mostly decide, and those of one time as they compare.
// It returns the place of each.
func newestFirst(n int, at func(i int) int64, compare func(a, b int) int) []numbered {
	order := make([]numbered, n)
	apart(n, func(i int) { order[i] = numbered{^(uint64(at(i)) ^ 1<<63), i} })
	order = byNumber(order)
	for i := 0; i < n; {
		end := i + 1
		for end < n && order[end].number == order[i].number {
			end++
		}
		if end > i+1 {
			slices.SortFunc(order[i:end], func(a, b numbered) int {
				return cmp.Or(compare(a.from, b.from), cmp.Compare(a.from, b.from))
			})
		}
		i = end
	}
	return order
}

// move puts each session where the order has it, in the memory that they have: sessions are large. It takes one out, fills
// its place with the one that belongs there, that one's place likewise, and so on until it is where the first belongs.
func move(list []Session, order []numbered) {
	for i := range order {
		if order[i].from == i {
			continue
		}
		first, at := list[i], i
		for order[at].from != i {
			from := order[at].from
			list[at], order[at].from = list[from], at
			at = from
		}
		list[at], order[at].from = first, at
	}
}

// apart does something for each of n numbers, of many on all cores: what thousands of records hold lies all over the memory.
func apart(n int, do func(i int)) {
	const few = 1024
	share := max(few, (n+runtime.GOMAXPROCS(0)-1)/runtime.GOMAXPROCS(0))
	var others sync.WaitGroup
	for from := share; from < n; from += share {
		others.Go(func() {
			for i := from; i < min(from+share, n); i++ {
				do(i)
			}
		})
	}
	for i := range min(share, n) {
		do(i)
	}
	others.Wait()
}
