package opencode

import (
	"slices"
	"testing"
	"time"
)

// Ranges of IDs are right across the moment at which the time in IDs wraps around.
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

// A whole ID has a fixed length.
func TestMatchesID(t *testing.T) {
	for id, want := range map[string]bool{
		"ses_21d32c232ffeT0QSgZ5ukOTKPp": true,
		"ses_21d32c232ffeT0QSgZ5ukOTKP":  false,
		"ses_21d32c232ffeT0QSgZ5ukO/KPp": false,
		"ses_":                           false,
		"":                               false,
	} {
		if got := New().MatchesID(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

// A session's ID begins with the millisecond in which the session began, and a counter.
func TestShortID(t *testing.T) {
	if got := New().ShortID("ses_e0590e1d5ffeABCDEFGHIJKLMN"); got != len("ses_e0590e1d5ffe") {
		t.Errorf("%d", got)
	}
}
