package transcript

import (
	"testing"
	"time"

	"agentctl/discover"
)

// Messages of records that are nearly sorted come sorted.
func TestMessageOrder(t *testing.T) {
	begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for _, far := range []time.Duration{time.Millisecond, 100 * time.Millisecond, time.Minute} {
		var s messageOrder
		var got []discover.Message
		const n = 1000
		for i := range n { // each fourth record stands three places later than it should
			place := n - i
			switch i % 4 {
			case 0:
				place -= 3
			default:
				place++
			}
			at := begin.Add(time.Duration(place) * far)
			got = append(got, s.add([]discover.Message{{Time: at}}, at)...)
			if len(s.waiting) > maxWaiting {
				t.Fatalf("%d messages wait", len(s.waiting))
			}
		}
		got = append(got, s.flush()...)
		for i := range got[1:] {
			if got[i].Time.Before(got[i+1].Time) {
				t.Fatalf("%s apart, at %d: %s before %s", far, i, got[i].Time, got[i+1].Time)
			}
		}
		if len(got) != n {
			t.Errorf("%d messages", len(got))
		}
	}
}
