package discover

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"agentctl/proc"
)

// The order is total: sessions in any order are sorted into one.
func TestSortIsTheOrderOfCompare(t *testing.T) {
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
				Record: &Record{ID: rapid.SampledFrom(testIDs).Draw(t, "id"), Created: at("created"), Updated: at("updated")},
				Status: rapid.SampledFrom([]Status{Running, Stopped, Stopped, Unknown}).Draw(t, "status"),
			}
			if s.Status.Live() {
				s.Processes = []proc.Process{{Started: at("started"), ID: proc.ID{PID: rapid.IntRange(1, 3).Draw(t, "pid")}}}
			}
			return s
		})).Draw(t, "sessions")
		shuffled := slices.Clone(list)
		slices.Reverse(shuffled)
		want := sorted(shuffled)
		for i, s := range sorted(list) {
			if Compare(s, want[i]) != 0 {
				t.Fatalf("%d: %v, want %v", i, s, want[i])
			}
			if i > 0 && want[i-1].Status.Live() != s.Status.Live() && s.Status.Live() {
				t.Fatalf("%d: a live session follows a stopped one", i)
			}
		}
	})
}
