package opencode

import (
	"slices"
	"testing"
	"time"
)

// Ids are compared by time across the moment when it comes round.
func TestIDsSince(t *testing.T) {
	created := time.UnixMilli(1795201766525) // SEEN: ses_e05a2eb82ffe…
	holds := func(spans []idRange, id string) bool {
		return slices.ContainsFunc(spans, func(s idRange) bool { return id >= s.from && id < s.to })
	}
	const id = "ses_e05a2eb82ffei3FepNAqdqxz65"
	if spans := sessionIDsSince(created); !holds(spans, id) {
		t.Errorf("its own time: %v", spans)
	}
	if spans := sessionIDsSince(created.Add(time.Second)); holds(spans, id) {
		t.Errorf("a second later: %v", spans)
	}
	for _, start := range []int64{1<<36*26 - 500, 1<<36*26 + 500, 1<<36*26 - 1<<35} {
		spans := messageIDsSince(time.UnixMilli(start))
		if now := messageIDsSince(time.UnixMilli(start + 1000)); !holds(spans, now[0].from+"x") {
			t.Errorf("%d: %v does not hold a second later", start, spans)
		}
		if before := messageIDsSince(time.UnixMilli(start - 1000)); holds(spans, before[0].from+"x") {
			t.Errorf("%d: %v holds a second before", start, spans)
		}
	}
}
