package discover

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/proc"
)

func numbers() *rapid.Generator[[]uint64] {
	return rapid.SliceOf(rapid.OneOf(
		rapid.Uint64(), rapid.Uint64Range(0, 3), rapid.Uint64Range(1<<40, 1<<40+300), rapid.Just[uint64](math.MaxUint64),
	))
}

func TestNumbersAreOrdered(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var list []numbered
		for i, n := range numbers().Draw(t, "numbers") {
			list = append(list, numbered{n, i})
		}
		want := slices.Clone(list)
		slices.SortStableFunc(want, func(a, b numbered) int { return cmp.Compare(a.number, b.number) })
		if got := byNumber(list); !slices.Equal(got, want) {
			t.Fatalf("got  %v\nwant %v", got, want)
		}
	})
}

func TestRepeatedNumbersAreTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := numbers().Draw(t, "numbers")
		r, seen := newRepeated(len(all)), map[uint64]int{}
		for _, n := range all {
			r.add(n)
			seen[n]++
		}
		for n, times := range seen {
			if times > 1 && !r.has(n) {
				t.Fatalf("%d is there %d times", n, times)
			}
		}
	})
}

// Few names are taken for those of others.
func TestRepeatedIsSeldomWrong(t *testing.T) {
	const n = 10_000
	r := newRepeated(n)
	for i := range uint64(n) {
		r.add(i)
	}
	wrong := 0
	for i := range uint64(n) {
		if r.has(i) {
			wrong++
		}
	}
	if wrong > n/10 {
		t.Errorf("%d of %d", wrong, n)
	}
}

// What is sorted by numbers and moved in place is in the order of Compare, whatever the times.
func TestSortedIsTheOrderOfCompare(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := rapid.SliceOf(rapid.Custom(func(t *rapid.T) Session {
			at := func(label string) time.Time {
				return rapid.SampledFrom([]time.Time{
					{},
					time.UnixMilli(0), time.UnixMilli(-5), time.UnixMicro(1_750_000_000_000_001), time.UnixMicro(1_750_000_000_000_002),
					time.UnixMilli(1_750_000_000_001), time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC),
				}).Draw(t, label)
			}
			s := Session{
				Record: &Record{ID: rapid.SampledFrom(someIDs).Draw(t, "id"), Created: at("created"), Updated: at("updated")},
				Status: rapid.SampledFrom([]Status{Running, Stopped, Stopped, Unknown}).Draw(t, "status"),
			}
			if s.Status.Live() {
				s.Processes = []proc.Process{{Started: at("started"), ID: proc.ID{PID: rapid.IntRange(1, 3).Draw(t, "pid")}}}
			}
			return s
		})).Draw(t, "sessions")
		want := slices.Clone(list)
		slices.SortStableFunc(want, Compare)
		for i, s := range sorted(list) {
			if Compare(s, want[i]) != 0 {
				t.Fatalf("%d: %v, want %v", i, s, want[i])
			}
		}
	})
}
