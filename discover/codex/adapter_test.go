package codex

import "testing"

// Only UUIDs of version 7 are IDs of threads.
func TestMatchesID(t *testing.T) {
	for id, want := range map[string]bool{
		"019de2f3-58ba-72f7-ab7d-7c60e9d8dc8f": true,
		"479c58fd-bac9-45a8-9895-8d4f68f8467f": false,
		"019de2f3-58ba-72f7-ab7d-7c60e9d8dc8":  false,
		"019de2f3-58ba":                        false,
		"":                                     false,
	} {
		if got := New().MatchesID(id); got != want {
			t.Errorf("%q: %v", id, got)
		}
	}
}

// A short ID contains the milliseconds at which the thread began.
func TestShortID(t *testing.T) {
	for id, want := range map[string]int{"019de2f3-58ba-72f7-ab7d-7c60e9d8dc8f": 13, "479c58fd-bac9-45a8-9895-8d4f68f8467f": 8, "x": 1} {
		if got := New().ShortID(id); got != want {
			t.Errorf("%q: %d, want %d", id, got, want)
		}
	}
}
