package opencode

import "testing"

func TestMints(t *testing.T) {
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

// A session's ID begins with the millisecond in which it began, and a counter.
func TestShortID(t *testing.T) {
	if got := New().ShortID("ses_e0590e1d5ffeABCDEFGHIJKLMN"); got != len("ses_e0590e1d5ffe") {
		t.Errorf("%d", got)
	}
}
